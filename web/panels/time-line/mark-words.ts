/** Words and looks of the marks of the time line. */
import { timeLineTexts } from '../../texts/time-line.ts';
import type { LineEvent } from './line-events.ts';
import type { Mark } from './line-layout.ts';

const endOf = (event: LineEvent) => (event.kind === 'capture' ? event.endMs : event.atMs);

/** Names an event with its time, for lists and screen readers. */
export function nameOfEvent(event: LineEvent): string {
  const at = timeLineTexts.moment(event.atMs);
  if (event.kind === 'step') return timeLineTexts.step(event.step.words, at);
  if (event.kind === 'capture') return timeLineTexts.capture(event.file.name, timeLineTexts.span(at, endTextOf(event)));
  const { name, memory, checkpoint } = event.snapshot;
  return timeLineTexts.snapshot(timeLineTexts.kinds[checkpoint ? 'checkpoint' : memory ? 'freeze' : 'snapshot'], name, at);
}

function endTextOf({ file, endMs }: Extract<LineEvent, { kind: 'capture' }>): string {
  return file.capturing ? timeLineTexts.running : timeLineTexts.moment(endMs);
}

export function nameOfMark({ events, lane }: Mark): string {
  const [first, ...others] = events;
  if (others.length === 0) return nameOfEvent(first);
  const end = Math.max(...events.map(endOf));
  return timeLineTexts.group(lane, events.length, timeLineTexts.span(timeLineTexts.moment(first.atMs), timeLineTexts.moment(end)));
}

/** The name that is written beside the mark. */
export function shownName({ events, lane }: Mark): string {
  const [first, ...others] = events;
  return lane === 'snapshot' && first.kind === 'snapshot' && !first.snapshot.checkpoint && others.length === 0
    ? first.snapshot.name
    : '';
}

/** Class names. */
export function lookOf({ events, lane }: Mark): string {
  const [first, ...others] = events;
  if (others.length > 0) return lane === 'capture' ? 'several' : 'group';
  if (first.kind === 'step') {
    const { isGone, isRevert, isRewind } = first.step;
    return [isRewind && 'rewind', (isGone || isRevert) && 'undone'].filter(Boolean).join(' ');
  }
  if (first.kind === 'capture') return first.file.capturing ? 'running' : '';
  return [first.snapshot.checkpoint && 'checkpoint', first.snapshot.memory && 'freeze'].filter(Boolean).join(' ');
}

/** The number of events of a group, at most three characters. */
export const countText = (count: number): string => (count < 1000 ? `${count}` : `${Math.min(99, Math.floor(count / 1000))}k`);
