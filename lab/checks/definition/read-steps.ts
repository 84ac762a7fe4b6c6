/** Reads `checks` of a lab file, whose shape was validated by `LabChecks`. */
import { longestTrafficMs } from '../../../src/schema/traffic.ts';
import { CheckError, type CheckPath, placed } from './check-error.ts';
import {
  countRanges,
  expectFields,
  judgeCapture,
  judgeDns,
  judgeHttp,
  judgeIperf,
  judgePing,
  judgeRun,
  judgeTcp,
  judgeTraceroute,
  type ProbeVerb,
} from './judges.ts';
import { readDuration } from './quantities.ts';
import type { LabCheck, LabStep, StepExpect } from './step-schema.ts';
import { type CheckStep, isGroup, isProbe, type Repetition } from './steps.ts';
import { judgeNeighbour, judgeRoute } from './tables.ts';
import { readTraffic } from './traffic.ts';

const verbs = [
  ...[
    'run',
    'ping',
    'tcp',
    'http',
    'dns',
    'traceroute',
    'iperf',
    'route',
    'neighbour',
    'impair',
    'suspend',
    'resume',
    'start',
    'stop',
    'kill',
    'config',
  ],
  ...['traffic', 'capture', 'timeline'],
] as const;

const tryLimitMs = 30_000;
const everyMs = 1000;

interface StepContext {
  readonly path: CheckPath;
  /** Converts a link's filters to the form of the API. Throws the fault of a value. */
  readonly filters: (given: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  /** Returns the path of a file that a step names, relative to the folder of the lab. Throws when it is outside. */
  readonly filePath: (named: string) => string;
  /** Throws when the lab has no such node. */
  readonly checkNode: (name: string) => void;
}

/** Reads the steps. @throws CheckError */
export function readSteps(checks: readonly LabCheck[], context: StepContext): CheckStep[] {
  return checks.map((check, index) => readStep(check, { ...context, path: [...context.path, index] }));
}

type GivenStep = LabCheck & Pick<LabStep, 'at'>;

function readStep(given: GivenStep, context: StepContext): CheckStep {
  const { path } = context;
  const found = verbs.filter((verb) => Object.hasOwn(given, verb));
  const [verb] = found;
  if (verb === undefined || found.length > 1) {
    throw new CheckError(path, `a step has exactly one of ${verbs.join(', ')}, not ${found.join(' and ') || 'none'}`);
  }
  const what = readWhat(given, verb, context);
  checkNodes(given, path, context);
  checkFields(given, verb, what, path);
  const ms = (field: 'at' | 'limit', byDefault: number) => {
    const text = given[field];
    return text === undefined ? byDefault : placed([...path, field], () => readDuration(text));
  };
  // Some programs wait for each lost packet before they send the next one.
  const packetsMs = what.verb === 'ping' ? what.settings.count * (what.settings.intervalMs + what.settings.timeoutMs) : 0;
  const trafficMs = what.verb === 'traffic' ? (what.packets.forMs ?? longestTrafficMs) : 0;
  const runsMs = what.verb === 'iperf' ? what.seconds * 1000 : packetsMs + trafficMs;
  return {
    name: given.name ?? describe(given, verb),
    node: given.node,
    by: given.by ?? 'console',
    atMs: ms('at', 0),
    repetition: readRepetition(given, path),
    limitMs: ms('limit', tryLimitMs + runsMs),
    what,
  };
}

function checkNodes(given: GivenStep, path: CheckPath, { checkNode }: StepContext): void {
  const named = { node: given.node, start: given.start, stop: given.stop, kill: given.kill, iperf: given.iperf?.server };
  const stations = { from: given.traffic?.from.at, to: given.traffic?.to.at };
  for (const [field, name] of Object.entries({ ...named, ...stations })) {
    if (name !== undefined) placed([...path, field], () => checkNode(name));
  }
}

function checkFields(given: GivenStep, verb: string, what: CheckStep['what'], path: CheckPath): void {
  const needsNode = isProbe(what) || verb === 'config';
  if (needsNode && given.node === undefined) throw new CheckError(path, `${verb} needs \`node\`: where it is carried out`);
  if (!needsNode && given.node !== undefined) throw new CheckError([...path, 'node'], `${verb} has no \`node\``);
  const known: readonly string[] = Object.hasOwn(expectFields, verb) ? expectFields[verb as ProbeVerb] : [];
  if (given.by !== undefined && !isProbe(what)) throw new CheckError([...path, 'by'], `${verb} has no \`by\``);
  const wrong = Object.keys(given.expect ?? {}).find((field) => !known.includes(field));
  if (wrong !== undefined) {
    const hint = known.length > 0 ? `It can expect ${known.join(', ')}` : 'It holds when the server accepts it';
    throw new CheckError([...path, 'expect'], `${verb} cannot expect \`${wrong}\`. ${hint}`);
  }
  const isRepeated = [given.eventually, given.always, given.never].some((one) => one !== undefined);
  if (isRepeated && !isProbe(what)) throw new CheckError(path, `${verb} cannot be repeated`);
  if (isGroup(what) && given.limit !== undefined) throw new CheckError([...path, 'limit'], `${verb} has no limit of its own`);
}

function readRepetition(given: GivenStep, path: CheckPath): Repetition | undefined {
  const ways = (['eventually', 'always', 'never'] as const).filter((how) => given[how] !== undefined);
  const [how] = ways;
  if (ways.length > 1) throw new CheckError(path, `a step has one of eventually, always and never, not ${ways.join(' and ')}`);
  const { every } = given;
  if (how === undefined) {
    if (every !== undefined) throw new CheckError([...path, 'every'], 'only a step with eventually, always or never is repeated');
    return undefined;
  }
  return {
    how,
    forMs: placed([...path, how], () => readDuration(given[how] ?? '')),
    everyMs: every === undefined ? everyMs : placed([...path, 'every'], () => readDuration(every)),
  };
}

function readWhat(given: GivenStep, verb: (typeof verbs)[number], context: StepContext): CheckStep['what'] {
  const { path } = context;
  const { expect = {} } = given;
  const at = [...path, 'expect'];
  switch (verb) {
    case 'impair':
      return {
        verb,
        link: given.impair?.link ?? '',
        filters: placed([...path, verb, 'filters'], () => context.filters(given.impair?.filters ?? {})),
      };
    case 'suspend':
    case 'resume':
      return { verb, link: given[verb] ?? '' };
    case 'start':
    case 'stop':
    case 'kill':
      return { verb, target: given[verb] ?? '' };
    case 'config':
      return { verb, lines: given.config ?? '' };
    case 'traffic':
      return readTraffic(given.traffic, { expect, path, filePath: context.filePath });
    case 'timeline':
      return { verb, steps: readSteps(given.timeline ?? [], { ...context, path: [...path, verb] }) };
    case 'capture': {
      const { link = '', filter, side = 'after', while: inner = [] } = given.capture ?? {};
      return {
        verb,
        link,
        filter,
        side,
        steps: readSteps(inner, { ...context, path: [...path, verb, 'while'] }),
        judge: judgeCapture(expect, at),
      };
    }
    default:
      return readProbe(given, verb, expect, path);
  }
}

function readProbe(
  given: GivenStep,
  verb: Exclude<ProbeVerb, 'capture' | 'traffic'>,
  expect: StepExpect,
  path: CheckPath,
): CheckStep['what'] {
  const at = [...path, 'expect'];
  const target = (to: string | undefined) => word(to, [...path, verb]);
  switch (verb) {
    case 'run':
      return { verb, command: given.run ?? '', judge: judgeRun(expect, at) };
    case 'ping':
      return {
        verb,
        settings: readPing(given.ping, [...path, verb]),
        judge: judgePing(expect, at),
        counts: countRanges(expect, at),
      };
    case 'tcp':
      return { verb, ...readAddress(given.tcp, [...path, verb]), judge: judgeTcp(expect) };
    case 'http':
      return { verb, url: placed([...path, verb], () => new URL(given.http ?? '').href), judge: judgeHttp(expect, at) };
    case 'dns': {
      const { name, server } = typeof given.dns === 'string' ? { name: given.dns, server: undefined } : (given.dns ?? { name: '' });
      return { verb, host: target(name), server: server === undefined ? undefined : target(server), judge: judgeDns(expect) };
    }
    case 'traceroute': {
      const { to, hops = 16 } = typeof given.traceroute === 'string' ? { to: given.traceroute } : (given.traceroute ?? {});
      return { verb, to: target(to), hops, judge: judgeTraceroute(expect, to ?? '') };
    }
    case 'route':
      return { verb, to: target(given.route), judge: judgeRoute(expect, given.route ?? '', at) };
    case 'neighbour': {
      const wanted = given.neighbour ?? '';
      const { address, protocol = 'arp' } = typeof wanted === 'string' ? { address: wanted } : wanted;
      return { verb, address: target(address), protocol: target(protocol), judge: judgeNeighbour(expect, address) };
    }
    case 'iperf': {
      const { to, server = '', seconds = 5 } = given.iperf ?? {};
      return { verb, to: target(to), server, seconds, judge: judgeIperf(expect, at) };
    }
  }
}

function readPing(given: LabCheck['ping'], path: CheckPath) {
  const {
    to,
    count = 5,
    interval = '200ms',
    timeout = '2s',
    size = 56,
    resolve = true,
  } = typeof given === 'string' ? { to: given } : (given ?? {});
  const ms = (field: string, text: string) => placed([...path, field], () => readDuration(text));
  return {
    to: word(to, path),
    count,
    intervalMs: ms('interval', interval),
    timeoutMs: ms('timeout', timeout),
    size,
    resolves: resolve,
  };
}

/** Parses `ADDRESS:PORT`, an IPv6 address in brackets. @throws CheckError */
export function readAddress(given: LabCheck['tcp'], path: CheckPath): { to: string; port: number } {
  if (typeof given === 'object') return { to: word(given.to, path), port: given.port };
  const [, bracketed, plain, digits = ''] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(given ?? '') ?? [];
  const to = bracketed ?? plain;
  if (to === undefined || Number(digits) < 1 || Number(digits) > 65_535) throw new CheckError(path, 'write ADDRESS:PORT');
  return { to: word(to, path), port: Number(digits) };
}

/** Checks a word of a command line: no character with a meaning for a shell or a line editor. @throws CheckError */
function word(text: string | undefined, path: CheckPath): string {
  if (text === undefined || !/^[A-Za-z0-9_][A-Za-z0-9_.:%/-]{0,252}$/.test(text)) {
    throw new CheckError(path, `${JSON.stringify(text ?? '')} is not an address or name`);
  }
  return text;
}

function describe(given: GivenStep, verb: (typeof verbs)[number]): string {
  const value: unknown = given[verb];
  const at = given.node === undefined ? '' : ` at ${given.node}`;
  const first = (text: string) => text.trim().split('\n', 1)[0]?.slice(0, 80) ?? '';
  if (typeof value === 'string') return `${verb} ${first(value)}${at}`;
  if (verb === 'capture') return `capture ${given.capture?.filter ?? 'packets'} on ${linkText(given.capture?.link ?? '')}`;
  if (verb === 'traffic') return `traffic from ${given.traffic?.from.address} to ${given.traffic?.to.address}`;
  if (verb === 'impair') return `impair ${linkText(given.impair?.link ?? '')}`;
  if (verb === 'timeline') return `timeline of ${given.timeline?.length ?? 0} steps`;
  if (Array.isArray(value)) return `${verb} ${linkText(value as string[])}`;
  const { to, name, address } = (value ?? {}) as { to?: string; name?: string; address?: string };
  return `${verb} ${to ?? name ?? address ?? ''}${at}`;
}

function linkText(link: string | readonly string[]): string {
  return typeof link === 'string' ? link : link.join(' – ');
}
