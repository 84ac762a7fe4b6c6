/** Texts of what a link does to frames: impairments, mirrors, schedules, figures. */
import { bitRate, megabits, short } from './figures.ts';

export const impair = {
  title: 'Impairments',
  clear: 'Clear',
  turn: 'Swap directions',
  eachWay: (name: string) => `${name}, each way`,
  ways: 'Direction',
  way: (way: 'both' | 'ab' | 'ba', [one, other]: readonly [string, string]) =>
    way === 'both' ? 'Both ways' : way === 'ab' ? `${one} → ${other}` : `${other} → ${one}`,
  groups: {
    time: 'Delay',
    loss: 'Loss',
    damage: 'Damage and order',
    scope: 'Only these frames',
    repeat: 'Repeatability',
    others: 'More',
  },
  notSet: 'not set',
  bpfExample: 'icmp and greater 200',
  bounds: (least: number, most: number, unit: string) =>
    `${least.toLocaleString('en')} to ${most.toLocaleString('en')}${unit.startsWith('(') ? '' : ` ${unit}`}`.trim(),
  more: 'More impairments',
  presetsTitle: 'Typical lines',
  presets: { dsl: 'DSL', umts: '3G', lte: 'LTE', satellite: 'Satellite', wifi: 'Lossy Wi-Fi', wan: 'WAN, 50 ms' },
  upAndDownHint: ([one, other]: readonly [string, string]) =>
    `Up is from ${one} to ${other}. A preset replaces the current impairments.`,
  figures: {
    upAndDown: (up: number, down: number) => `${megabits(up)} up, ${megabits(down)} down`,
    bandwidth: (kilobits: number) => megabits(kilobits),
    delay: (ms: number, jitter: number) => (jitter > 0 ? `${ms} ± ${jitter} ms each way` : `${ms} ms each way`),
    loss: (percent: number) => `${percent} % lost`,
    burst: (begins: number, lost: number) => `bursts: ${begins} % of frames start one, ${lost} % lost inside`,
  },
} as const;

export const mirror = {
  title: 'Mirror',
  hint: 'Frames of both directions are sent to this port, too (SPAN).',
  figures: (frames: number, lost: number) =>
    `${frames.toLocaleString('en')} frames sent${lost > 0 ? `, ${lost.toLocaleString('en')} dropped` : ''}`,
} as const;

export const schedule = {
  title: 'Schedule',
  add: 'Add',
  edit: 'Edit',
  restart: 'Restart',
  remove: 'Remove',
  save: 'Run',
  form: 'Form',
  text: 'Text',
  step: (number: number) => `Step ${number}`,
  addStep: 'Add a step',
  removeStep: (number: number) => `Remove step ${number}`,
  from: 'From',
  gradually: 'Gradually over',
  length: 'Length of a run',
  end: 'After the last step',
  ends: { stay: 'It stays', once: 'It ends', repeat: 'It begins again' },
  filters: { delay: 'Latency, each way', packet_loss: 'Packet loss', bandwidth: 'Bandwidth' },
  link: 'Link',
  states: { same: 'As before', down: 'Down', up: 'Up', flap: 'Flaps' } as Readonly<Record<string, string>>,
  flapDown: 'Down for',
  flapUp: 'Up for',
  cancel: 'Cancel',
  source: 'Steps and traces, as JSON. Times in milliseconds',
  trace: 'Add a trace file (CSV or mahimahi)',
  traces: (count: number) => `${count} ${count === 1 ? 'trace' : 'traces'}`,
  notLists: 'A schedule is an object with lists of steps and traces.',
  strip: 'Position in the schedule',
  at: (elapsed: string, run: number, length: string | undefined) =>
    length === undefined ? `${elapsed}` : `${elapsed} of ${length}${run > 1 ? `, run ${run}` : ''}`,
  waiting: (time: string) => `Starts in ${time}`,
  over: 'Over: the link’s own impairments act',
  down: 'down',
} as const;

export const graph = {
  title: 'Live',
  rate: 'Rate',
  drops: 'Lost',
  delay: 'Delay, median',
  ago: (seconds: number) => (seconds === 0 ? 'now' : `−${seconds} s`),
  bits: bitRate,
  perSecond: (count: number) => `${short(count)} /s`,
  milliseconds: (ms: number) => `${short(ms)} ms`,
  carrier: {
    kernel: 'Carried by the kernel, directly between the containers.',
    fabric: 'Carried by the fabric on this compute.',
    stream: 'Carried over TCP to another compute.',
    udp: 'Carried as datagrams to another compute.',
  },
  carrierReason: (reason: string) => `The kernel cannot carry it: ${reason}.`,
  frames: (there: number, back: number) => `${there.toLocaleString('en')} frames forward, ${back.toLocaleString('en')} back.`,
  lost: (cause: string, count: number) => `${count.toLocaleString('en')} lost: ${cause.replaceAll('_', ' ')}`,
} as const;

export const failure = {
  notMoved: (why: string) => `It could not be connected to the other port. ${why}`,
  again: 'Try again',
} as const;
