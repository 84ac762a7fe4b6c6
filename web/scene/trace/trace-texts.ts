/** Texts of the trace of a packet: loaded with it. */
import { short } from '../../texts/figures.ts';

const ms = (value: number) => `${Math.abs(value) < 10 ? value.toFixed(2) : short(value)} ms`;

/** Words for the reasons of a link that are no filters. */
const reasons: Readonly<Record<string, string>> = {
  suspend: 'the link is suspended',
  queue_full: 'its queue is full',
  no_peer: 'nothing receives at its other end',
  not_admitted: 'the port does not let it in',
};
/** Failures of a PC's probe. */
const failures: Readonly<Record<string, string>> = {
  no_address: 'has no address itself',
  no_gateway: 'has no gateway for this address',
  unreachable: 'sent no ping, as the neighbour did not tell its MAC address',
  ended: 'was stopped',
  busy: 'has too much to do',
};
const packets = { arp: 'question for the MAC address', echo: 'ping' };
const answers = { arp: 'answer with the MAC address', echo: 'answer' };

export const traceTexts = {
  region: 'Trace of a packet',
  title: (from: string, to: string) => `${from} → ${to}`,
  to: (address: string) => `to ${address}`,
  again: 'Trace again',
  swap: 'Trace the other way',
  close: 'Close the trace',
  sends: (from: string) => `${from} sends a packet…`,
  waits: (from: string) => `Waiting for a ping of ${from}: type one at its console. It is followed when it leaves ${from}.`,
  address: (name: string) => `Address of ${name}`,
  trace: 'Trace',
  unseen: (name: string) => `No ping left ${name}.`,
  answered: (total: number) => `Answered after ${ms(total)}.`,
  packet: (packet: 'arp' | 'echo', isAnswer: boolean) => (isAnswer ? answers : packets)[packet],
  way: (packet: 'arp' | 'echo', isAnswer: boolean) =>
    (isAnswer ? answers : packets)[packet].replace(/^./, (letter) => letter.toUpperCase()),
  lost: (link: string, what: string, why: string) => `Lost on ${link}: ${why} (the ${what}).`,
  stopped: (name: string, what: string) => `${name} received the ${what} and did not send it on.`,
  arrived: (name: string, what: string) => `${name} received the ${what} and did not answer.`,
  underWay: (link: string, what: string) => `The ${what} was still on ${link} when the trace ended.`,
  failed: (name: string, failure: string) => `${name} ${failures[failure] ?? failure}.`,
  error: (text: string) => `An error came back: ${text}.`,
  untraced: (links: readonly string[]) => `Not seen: ${links.join(', ')}.`,
  clocks: 'The links are on several computes: each has its own clock.',
  filter: (type: string, values: string) => `filter ${type.replaceAll('_', ' ')}${values === '' ? '' : ` ${values}`}`,
  reason: (cause: string): string | undefined => reasons[cause],
  between: (from: string, to: string) => `${from} – ${to}`,
  hop: (from: string, to: string) => `${from} → ${to}`,
  at: (value: number) => `+${ms(value)}`,
  delay: ms,
  lostHere: 'lost',
  noDelay: '…',
  /** Mark of a link, for each way that lights it. */
  marked: (arrow: string, delay: string) => `${arrow} ${delay}`,
  notSentOn: 'not sent on',
  columns: { link: 'Link', at: 'At', delay: 'On the link' },
} as const;
