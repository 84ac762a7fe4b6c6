/** The axis of the time line with its marks: the wheel and keys zoom, a drag moves it, arrow keys go from mark to mark. */
import type { Signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { timeLineTexts } from '../../texts/time-line.ts';
import { type LineLayout, type Mark, markPx, moved, type View, wholeView, zoomed } from './line-layout.ts';
import { countText, lookOf, nameOfMark, shownName } from './mark-words.ts';
import type { OpenMark } from './use-open-mark.ts';

interface LineAxisProps {
  readonly layout: LineLayout;
  readonly marks: readonly Mark[];
  readonly view: Signal<View>;
  readonly widthPx: Signal<number>;
  readonly open: OpenMark;
  /** False while the events are read for the first time. */
  readonly isRead: boolean;
}

const keyZoom = 2;
/** Zoom of one pixel of the wheel. */
const wheelZoom = 1.003;
/** A narrower name says nothing. Pixels. */
const leastNamePx = 36;
/** Part of the shown time that a key moves when no mark follows. */
const keyMove = 0.5;

export function LineAxis(props: LineAxisProps) {
  const { marks, view, widthPx, open } = props;
  const axis = useRef<HTMLDivElement>(null);
  const dragged = useRef<{ readonly x: number; readonly view: View } | undefined>(undefined);
  useWheel(axis, props);
  const openKey = open.shown.value?.key;
  const isOpen = ({ events }: Mark) => events.some(({ key }) => key === openKey);
  const inOrder = marks.toSorted((one, other) => one.x - other.x);
  const current = inOrder.find(isOpen) ?? inOrder.at(-1);
  const onKeyDown = (event: KeyboardEvent) => {
    const run = keysOf(props, inOrder, current)[event.key];
    if (!run) return;
    event.preventDefault();
    event.stopPropagation();
    run();
  };
  const release = () => (dragged.current = undefined);
  return (
    <div
      ref={axis}
      class="axis"
      role="toolbar"
      aria-label={timeLineTexts.events}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => {
        if (event.button !== 0 || (event.target as Element).closest('button')) return;
        dragged.current = { x: event.clientX, view: view.peek() };
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={({ clientX }) => {
        const from = dragged.current;
        if (from) view.value = moved(from.view, (from.x - clientX) / Math.max(1, widthPx.peek()));
      }}
      onPointerUp={release}
      onPointerCancel={release}
    >
      <AxisTimes {...props} />
      {marks.map((mark) => (
        <MarkButton key={`${mark.lane} ${mark.key}`} {...{ mark, open }} isOpen={isOpen(mark)} isCurrent={mark === current} />
      ))}
    </div>
  );
}

/** Measures the axis, and has the wheel zoom around the pointer, or move. */
function useWheel(axis: RefObject<HTMLDivElement | null>, { view, widthPx }: Pick<LineAxisProps, 'view' | 'widthPx'>): void {
  useLayoutEffect(() => {
    const element = axis.current;
    if (!element) return undefined;
    const watcher = new ResizeObserver(() => (widthPx.value = element.clientWidth));
    watcher.observe(element);
    const wheel = (event: WheelEvent) => {
      event.preventDefault();
      const box = element.getBoundingClientRect();
      const isAcross = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (isAcross) view.value = moved(view.peek(), (event.deltaX || event.deltaY) / box.width);
      else view.value = zoomed(view.peek(), wheelZoom ** -event.deltaY, (event.clientX - box.left) / box.width);
    };
    element.addEventListener('wheel', wheel, { passive: false });
    return () => {
      watcher.disconnect();
      element.removeEventListener('wheel', wheel);
    };
  }, [axis, view, widthPx]);
}

/** Keys on a mark. `inOrder`: the marks from left to right. */
function keysOf(
  { view, widthPx, open }: LineAxisProps,
  inOrder: readonly Mark[],
  current: Mark | undefined,
): Readonly<Record<string, (() => void) | undefined>> {
  const at = current ? inOrder.indexOf(current) : -1;
  const go = (mark: Mark | undefined) => {
    if (!mark) return;
    open.close();
    open.focusMark(mark.key);
  };
  const show = (next: View) => {
    view.value = next;
    if (current) open.focusMark(current.key);
  };
  const pan = (part: number) => show(moved(view.peek(), part));
  const zoom = (factor: number) =>
    show(zoomed(view.peek(), factor, Math.max(0, Math.min(1, (current?.x ?? 0) / Math.max(1, widthPx.peek())))));
  const isZoomed = view.peek().to - view.peek().from < 1;
  const leave = open.shown.peek() ? () => open.close() : isZoomed ? () => show(wholeView) : undefined;
  return {
    ArrowLeft: () => (at > 0 ? go(inOrder[at - 1]) : pan(-keyMove)),
    ArrowRight: () => (at < inOrder.length - 1 ? go(inOrder[at + 1]) : pan(keyMove)),
    ArrowUp: () => open.focusCard(),
    // The page would move the selected nodes.
    ArrowDown: () => undefined,
    Home: () => go(inOrder[0]),
    End: () => go(inOrder.at(-1)),
    '+': () => zoom(keyZoom),
    '=': () => zoom(keyZoom),
    '-': () => zoom(1 / keyZoom),
    Escape: leave,
  };
}

/** The line, and the times below it. */
function AxisTimes({ layout, view, widthPx, isRead }: LineAxisProps) {
  const isEmpty = layout.events.length === 0;
  return (
    <>
      <span class="axis-line" />
      {isEmpty && isRead && <span class="axis-empty">{timeLineTexts.empty}</span>}
      {!isEmpty &&
        layout.ticks(view.value, widthPx.value, timeLineTexts.tick).map(({ x, text }) => (
          <span key={x} class="tick" style={{ left: `${x}px` }}>
            {text}
          </span>
        ))}
      {!isEmpty && view.value.to === 1 && <span class="tick now">{timeLineTexts.now}</span>}
    </>
  );
}

interface MarkButtonProps {
  readonly mark: Mark;
  readonly open: OpenMark;
  readonly isOpen: boolean;
  /** Tab reaches this one of all marks. */
  readonly isCurrent: boolean;
}

function MarkButton({ mark, open, isOpen, isCurrent }: MarkButtonProps) {
  const { key, lane, events, x, width, room } = mark;
  const name = shownName(mark);
  const isCapture = lane === 'capture';
  return (
    <button
      type="button"
      class={`mark ${lane} ${lookOf(mark)}`}
      data-mark={key}
      style={{ left: `${isCapture ? x : x - markPx / 2}px`, ...(isCapture && { width: `${width}px` }) }}
      aria-label={nameOfMark(mark)}
      aria-expanded={isOpen}
      tabIndex={isCurrent ? 0 : -1}
      onPointerEnter={({ pointerType }) => pointerType !== 'touch' && open.preview(key)}
      onPointerLeave={() => open.leave()}
      onFocus={() => open.preview(key)}
      onClick={({ detail }) => {
        open.pin(key);
        // Enter leads to the ways back; the mouse needs no focus there.
        if (detail === 0) open.focusCard();
      }}
    >
      <span class="mark-shape">{events.length > 1 && !isCapture && countText(events.length)}</span>
      {name && room > leastNamePx && (
        <span class="mark-name" style={{ maxWidth: `${room}px` }}>
          {name}
        </span>
      )}
    </button>
  );
}
