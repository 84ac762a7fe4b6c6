/** The table of packets. Only visible rows are rendered, so that 10 and 100,000 packets scroll alike. */
import { type Signal, useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { texts } from '../texts.ts';
import { decode } from './decode/decode.ts';
import type { PacketStore } from './packet-store.ts';
import type { Packet } from './pcap.ts';

const rowPx = 22;
/** A table with keyboard navigation. Source: WAI-ARIA 1.2, which allows this role for `table`. */
const gridRole = 'grid';
/** Rows rendered beyond the visible ones, so that scrolling shows no gaps. */
const spareRows = 8;

interface TableProps {
  readonly store: PacketStore;
  /** Number of the selected packet. */
  readonly chosen: Signal<number | undefined>;
}

export function PacketTable({ store, chosen }: TableProps) {
  const element = useRef<HTMLDivElement>(null);
  const window = useSignal({ top: 0, height: 0 });
  /** Follows new packets until the user scrolls away from the end. */
  const follows = useRef(true);
  store.version.value;
  const packets = store.shown;
  const measure = () => {
    const { scrollTop = 0, clientHeight = 0, scrollHeight = 0 } = element.current ?? {};
    follows.current = scrollTop + clientHeight >= scrollHeight - rowPx;
    if (window.peek().top !== scrollTop || window.peek().height !== clientHeight)
      window.value = { top: scrollTop, height: clientHeight };
  };
  const forgotten = useRef(store.shownForgotten);
  useLayoutEffect(() => {
    const table = element.current;
    if (!table) return;
    const gone = store.shownForgotten - forgotten.current;
    forgotten.current = store.shownForgotten;
    if (gone > 0) table.scrollTop -= gone * rowPx;
    if (follows.current && !isInSight(packets, chosen.peek(), table)) table.scrollTop = table.scrollHeight;
  }, [packets.length, store.shownForgotten]);
  useSize(element, measure);
  const first = Math.max(0, Math.floor(window.value.top / rowPx) - spareRows);
  const last = Math.min(packets.length, Math.ceil((window.value.top + window.value.height) / rowPx) + spareRows);
  const start = packets[0]?.timeMs ?? 0;
  return (
    <div ref={element} class="packet-table" onScroll={measure}>
      <table
        role={gridRole}
        tabIndex={0}
        aria-label={texts.capture.packets}
        aria-rowcount={packets.length + 1}
        onKeyDown={(event) => stepWith(event, { packets, chosen, element: element.current })}
      >
        <Head />
        <tbody>
          <Space rows={first} />
          {packets.slice(first, last).map((packet, place) => (
            <PacketRow
              key={packet.number}
              packet={packet}
              place={first + place}
              start={start}
              linkType={store.linkType}
              isChosen={chosen.value === packet.number}
              choose={() => (chosen.value = packet.number)}
            />
          ))}
          <Space rows={packets.length - last} />
        </tbody>
      </table>
    </div>
  );
}

/** Measures at once and after each change of the element's size. */
function useSize(element: { readonly current: HTMLElement | null }, measure: () => void): void {
  useLayoutEffect(() => {
    // The observer reports only after the next layout: rows would be missing until then.
    measure();
    const watcher = new ResizeObserver(measure);
    if (element.current) watcher.observe(element.current);
    return () => watcher.disconnect();
  }, []);
}

/** Whether the selected packet is in sight: the table then stays where it is while packets arrive. */
function isInSight(packets: readonly Packet[], chosen: number | undefined, { scrollTop, clientHeight }: HTMLElement): boolean {
  const first = packets[Math.floor(scrollTop / rowPx)]?.number;
  // The header covers one row.
  const last = packets[Math.min(packets.length, Math.ceil((scrollTop + clientHeight) / rowPx) - 1) - 1]?.number;
  return chosen !== undefined && first !== undefined && last !== undefined && first <= chosen && chosen <= last;
}

const Head = () => (
  <thead>
    <tr aria-rowindex={1}>
      {texts.capture.columns.map((column) => (
        <th key={column} scope="col">
          {column}
        </th>
      ))}
    </tr>
  </thead>
);

/** Placeholder for rows that are not rendered. */
const Space = ({ rows }: { readonly rows: number }) =>
  rows > 0 ? (
    <tr>
      <td colSpan={texts.capture.columns.length} style={{ height: `${rows * rowPx}px` }} />
    </tr>
  ) : null;

interface RowProps {
  readonly packet: Packet;
  /** Index in the table, from 0. */
  readonly place: number;
  readonly start: number;
  readonly linkType: number;
  readonly isChosen: boolean;
  readonly choose: () => void;
}

function PacketRow({ packet, place, start, linkType, isChosen, choose }: RowProps) {
  const { protocol, source, destination, info } = decode(packet.bytes, linkType);
  const cells = [packet.number, ((packet.timeMs - start) / 1000).toFixed(6), source, destination, protocol, packet.length, info];
  return (
    <tr
      data-packet={packet.number}
      class={`proto-${protocol.toLowerCase()}${isChosen ? ' chosen' : ''}`}
      aria-rowindex={place + 2}
      aria-selected={isChosen}
      onClick={choose}
    >
      {cells.map((cell, column) => (
        // A cell is identified by its column.
        <td key={texts.capture.columns[column]}>{cell}</td>
      ))}
    </tr>
  );
}

interface StepPlace {
  readonly packets: readonly Packet[];
  readonly chosen: Signal<number | undefined>;
  readonly element: HTMLElement | null;
}

/** Arrow keys move the selection from packet to packet. */
function stepWith(event: KeyboardEvent, { packets, chosen, element }: StepPlace): void {
  const pageRows = Math.max(1, Math.floor((element?.clientHeight ?? 0) / rowPx) - 2);
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: pageRows,
    PageUp: -pageRows,
    Home: -packets.length,
    End: packets.length,
  };
  const step = steps[event.key];
  if (step === undefined || packets.length === 0 || !element) return;
  event.preventDefault();
  event.stopPropagation();
  const at = packets.findIndex(({ number }) => number === chosen.peek());
  const next = Math.max(0, Math.min(packets.length - 1, at < 0 && step > 0 ? 0 : at + step));
  chosen.value = packets[next]?.number;
  // The header covers the first row.
  const top = next * rowPx;
  if (top < element.scrollTop) element.scrollTop = top;
  else if (top + 2 * rowPx > element.scrollTop + element.clientHeight) element.scrollTop = top + 2 * rowPx - element.clientHeight;
}
