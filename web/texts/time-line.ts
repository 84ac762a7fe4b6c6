/** Texts of the time line, loaded with it. */
import { plural } from './figures.ts';

/** Numbers of nodes and links by what a rewind does with them. */
export interface RewindCounts {
  readonly returns: number;
  readonly moves: number;
  readonly goes: number;
  readonly linksReturn: number;
  readonly linksGo: number;
}

const time = (ms: number, withSeconds: boolean) =>
  new Date(ms).toLocaleTimeString('en', {
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    ...(withSeconds && { second: '2-digit' }),
  });
const day = (ms: number) => new Date(ms).toLocaleDateString('en', { day: 'numeric', month: 'short' });
const isToday = (ms: number) => new Date(ms).toDateString() === new Date().toDateString();

export const timeLineTexts = {
  name: 'Time line',
  events: 'Events: arrow keys move between them, Enter opens one, + and - zoom',
  empty: 'Changes, freezes and captures of this lab will stand here.',
  /** "16:20", and the day before it if it is another one. */
  tick: (ms: number) => (isToday(ms) ? time(ms, false) : `${day(ms)} ${time(ms, false)}`),
  moment: (ms: number) => (isToday(ms) ? time(ms, true) : `${day(ms)} ${time(ms, true)}`),
  span: (from: string, to: string) => (from === to ? from : `${from} – ${to}`),
  step: (words: string, at: string) => `${words}, ${at}`,
  snapshot: (kind: string, name: string, at: string) => `${kind} “${name}”, ${at}`,
  kinds: { freeze: 'Freeze', snapshot: 'Snapshot', checkpoint: 'Checkpoint' },
  capture: (name: string, at: string) => `Capture ${name}, ${at}`,
  now: 'now',
  running: 'is running',
  group: (lane: 'step' | 'snapshot' | 'capture', count: number, at: string) =>
    ({
      step: `${plural(count, 'change', 'changes')}, ${at}`,
      snapshot: `${plural(count, 'snapshot', 'snapshots')}, ${at}`,
      capture: `${plural(count, 'capture', 'captures')}, ${at}`,
    })[lane],
  more: (count: number) => `and ${count.toLocaleString('en')} more: zoom in`,
  zoomIn: 'Zoom in',
  zoomOut: 'Zoom out of the time',
  whole: 'Show the whole time',
  card: 'What happened then',
  backToGroup: 'Back to the list',
  looking: 'Looking at the snapshot…',
  same: 'Nodes and links are where they are now.',
  differs: ({ returns, moves, goes, linksReturn, linksGo }: RewindCounts) => {
    const things = (verb: string, nodes: number, links: number) => {
      const both = [nodes > 0 && plural(nodes, 'node', 'nodes'), links > 0 && plural(links, 'link', 'links')].filter(Boolean);
      return both.length > 0 && `${verb} ${both.join(' and ')}`;
    };
    const parts = [
      things('restores', returns, linksReturn),
      things('moves or renames', moves, 0),
      things('removes', goes, linksGo),
    ].filter(Boolean);
    return parts.length === 0 ? timeLineTexts.same : `Going back ${parts.join(', ')}.`;
  },
} as const;
