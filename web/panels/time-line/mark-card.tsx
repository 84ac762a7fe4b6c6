/** The card above a mark: its event, or the list of its events. */
import type { Signal } from '@preact/signals';
import { timeLineTexts } from '../../texts/time-line.ts';
import { texts } from '../../texts.ts';
import { Button } from '../../ui/button.tsx';
import { moveFocus } from '../../ui/focus.ts';
import { type CardActions, EventCard } from './event-card.tsx';
import { type LineLayout, type Mark, type View, viewOf } from './line-layout.ts';
import { nameOfEvent, nameOfMark } from './mark-words.ts';
import type { OpenMark } from './use-open-mark.ts';

interface MarkListProps {
  readonly mark: Mark;
  readonly layout: LineLayout;
  readonly view: Signal<View>;
  readonly open: OpenMark;
}

interface MarkCardProps extends MarkListProps {
  /** Width of the axis. */
  readonly widthPx: number;
  readonly actions: CardActions;
}

/** Most events of a list; zooming in shows the others. */
const mostListed = 100;
/** Most of a list that only the pointer opened. */
const mostPreviewed = 5;

export function MarkCard({ widthPx, actions, ...list }: MarkCardProps) {
  const { mark, open } = list;
  const { events, key, x, width } = mark;
  const { isPinned, event: chosen } = open.shown.value ?? {};
  const one = events.length === 1 ? events[0] : events.find((event) => event.key === chosen);
  const share = widthPx > 0 ? Math.max(0, Math.min(1, (x + width / 2) / widthPx)) : 0;
  const leave = () => {
    open.close();
    open.focusMark(key);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return one || moveFocus(event);
    event.preventDefault();
    event.stopPropagation();
    leave();
  };
  return (
    <section
      class="mark-card"
      aria-label={timeLineTexts.card}
      style={{ '--at': share }}
      onPointerEnter={() => open.stay()}
      onPointerLeave={() => open.leave()}
      onKeyDown={onKeyDown}
    >
      {isPinned && <Button icon="close" kind="quiet" label={texts.close} onClick={leave} />}
      {one && events.length > 1 && (
        <Button icon="back" kind="quiet" onClick={() => open.pin(key)}>
          {timeLineTexts.backToGroup}
        </Button>
      )}
      {one ? <EventCard key={one.key} event={one} actions={actions} /> : <MarkList {...list} />}
    </section>
  );
}

/** The events of a group, the newest first. */
function MarkList({ mark, layout, view, open }: MarkListProps) {
  const { events, key } = mark;
  const isPinned = open.shown.value?.isPinned === true;
  const zoomIn = () => {
    const [first] = events;
    view.value = viewOf(layout.placeOf(first), layout.placeOf(events.at(-1) ?? first));
    open.close();
    open.focusMark(key);
  };
  return (
    <>
      <strong>{nameOfMark(mark)}</strong>
      <ul class="mark-events">
        {events
          .toReversed()
          .slice(0, isPinned ? mostListed : mostPreviewed)
          .map((event) => (
            <li key={event.key}>
              <button type="button" class="mark-event" onClick={() => open.pin(key, event.key)}>
                {nameOfEvent(event)}
              </button>
            </li>
          ))}
      </ul>
      {events.length > mostListed && isPinned && <small>{timeLineTexts.more(events.length - mostListed)}</small>}
      <Button icon="plus" onClick={zoomIn}>
        {timeLineTexts.zoomIn}
      </Button>
    </>
  );
}
