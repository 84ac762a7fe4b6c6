/** Texts of commands with arguments: loaded when the command menu is first opened. */
const orNone = (label: string, value: number, unit: string) => (value === 0 ? `No ${label}` : `${capital(label)} ${value}${unit}`);
const capital = (label: string) => label.charAt(0).toUpperCase() + label.slice(1);
const rateOf = (kilobits: number) => (kilobits >= 1000 ? `${kilobits / 1000} Mbit/s` : `${kilobits} kbit/s`);

export const phraseTexts = {
  impair: {
    delay: (ms: number, jitter = 0) => (ms === 0 ? 'No delay' : `Delay ${ms} ms${jitter ? ` ± ${jitter} ms` : ''} each way`),
    loss: (percent: number) => orNone('loss', percent, ' %'),
    corrupt: (percent: number) => orNone('corruption', percent, ' %'),
    duplicate: (percent: number) => orNone('duplication', percent, ' %'),
    reorder: (percent: number) => orNone('reordering', percent, ' %'),
    bandwidth: (kilobits: number) => (kilobits === 0 ? 'No limit of bandwidth' : `Bandwidth ${rateOf(kilobits)} each way`),
  },
  onLink: (what: string, link: string) => `${what} on ${link}`,
  clear: 'No impairments',
  noneOf: (name: string) => `Nothing here is called “${name}”`,
  noNumber: (verb: string) => `Say how much, for example: ${verb} 10`,
  freeze: (name: string) => `Freeze as “${name}”`,
  snapshot: (name: string) => `Take the snapshot “${name}”`,
  rewind: (name: string) => `Rewind to “${name}”`,
  restore: (name: string) => `Restore “${name}”`,
  fork: (name: string) => `Fork from “${name}”`,
  ping: (from: string, to: string) => `Ping ${to} from ${from}`,
  trace: (from: string, to: string) => `Trace a packet from ${from} to ${to}`,
  notRunning: (name: string) => `${name} does not run`,
  onlyPcs: (name: string) => `${name} is no PC (VPCS): ping at its console`,
  noAddress: (name: string) => `${name} has no address: give it one at its console, such as “ip 10.0.0.1/24”`,
  way: (from: string, to: string) => `${from} → ${to}`,
  pinging: (from: string, to: string) => `${from} pings ${to}…`,
  pinged: (way: string, { received, sent, ms }: { readonly received: number; readonly sent: number; readonly ms: number }) =>
    `${way}: ${received} of ${sent} answered, ${ms < 10 ? ms.toFixed(2) : Math.round(ms)} ms on average`,
  notPinged: (way: string, why: string) => `${way}: ${why}`,
  unanswered: 'no answer',
  why: {
    no_address: 'it has no address itself',
    no_gateway: 'it has no gateway for this address',
    unreachable: 'the neighbour does not answer',
    unresolved: 'the name is not known to its DNS',
    ended: 'it was ended',
    busy: 'it has too much to do',
  },
} as const;
