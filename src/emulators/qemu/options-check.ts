/** Checks the QEMU options that a user may write: an allow list on a shared server, all but a few on the user's own server. */
import { fault, isFault } from '../../api/faults.ts';
import type { Settings } from '../../schema/settings.ts';
import { fillPlaceholders, type Placeholders, splitOptions } from './options.ts';
import { globalVariants } from './options-devices.ts';
import { pieces, type Rule, refuseValue } from './options-rules.ts';
import { optionTable } from './options-table.ts';

/**
 * `listed`: only what stands in the table. `local`: a server of one user, who may do on this host whatever the server may; refused are those
 * that GNS3 refuses, and `-readconfig`, which can say the same. `any`: the administrator allows all by `allow_unsafe_options`.
 */
export type OptionPolicy = 'listed' | 'local' | 'any';

export function optionPolicy({ Qemu, Server }: Pick<Settings, 'Qemu' | 'Server'>): OptionPolicy {
  if (Qemu.allow_unsafe_options) return 'any';
  return Server.local ? 'local' : 'listed';
}

/** Refused on a local server, as by GNS3. */
const unsafe = new Set(
  ['blockdev', 'drive', 'hda', 'hdb', 'hdc', 'hdd', 'fsdev', 'virtfs', 'nic', 'netdev', 'readconfig'], //
);
/** Refused everywhere, with what to do instead: they would take the process from its supervisor, or from its sandbox. */
const impossible: ReadonlyMap<string, string> = new Map([
  ...['daemonize', 'runas', 'chroot', 'pidfile'].map((name): [string, string] => [name, 'the server watches the process itself']),
  ['sandbox', 'set sandbox = False in [Qemu] to run machines without one'],
]);
/** A value joined with "=" is no option of QEMU, but an attempt at one. */
const optionPattern = /^--?([a-zA-Z0-9_-]+?)(?:=|$)/;
const longestShown = 120;

/** @throws qemu_option_unsafe, qemu_failed */
export function checkOptions(words: readonly string[], policy: OptionPolicy): void {
  for (const word of words) {
    const name = optionPattern.exec(word)?.[1]?.toLowerCase() ?? '';
    const reason = impossible.get(name);
    if (reason !== undefined) throw fault('qemu_failed', { reason: `The QEMU option -${name} cannot be used: ${reason}` });
    if (policy === 'local' && unsafe.has(name)) throw refusal([word], 'it can reach files and networks of the host');
  }
  if (policy === 'listed') for (const { option, value } of pairs(words)) checkListed(option, value);
}

/** Whether all of them stand in the table, so that they name no file of the host. */
export function areListed(words: readonly string[]): boolean {
  try {
    checkOptions(words, 'listed');
    return true;
  } catch (error) {
    if (isFault(error)) return false;
    throw error;
  }
}

/** Checks stored options, which contain placeholders, like `checkOptions`. @throws qemu_option_unsafe, qemu_failed */
export function checkStoredOptions(options: string, settings: Pick<Settings, 'Qemu' | 'Server'>): void {
  checkOptions(fillPlaceholders(splitOptions(options), example), optionPolicy(settings));
}

/** Example values for a node that is not known yet; the real values are checked when it starts. */
const example: Placeholders = {
  name: 'name',
  nodeId: '00000000-0000-4000-8000-000000000000',
  projectId: '00000000-0000-4000-8000-000000000000',
  projectDirectory: '/project',
  consolePort: 5000,
};

interface Pair {
  readonly option: string;
  readonly value: string | undefined;
}

/** Options with their values, as QEMU pairs them. @throws qemu_option_unsafe */
function* pairs(words: readonly string[]): Generator<Pair> {
  for (let at = 0; at < words.length; at++) {
    const option = words[at] ?? '';
    if (!option.startsWith('-')) throw refusal([option], 'a word without a dash names a disk image: use the disks of the node');
    const rule = ruleOf(option);
    if (rule === undefined) throw refusal([option], 'it is none of those that are allowed on a shared server');
    if (rule === 'global' || rule.form !== 'flag') at += 1;
    yield { option, value: rule !== 'global' && rule.form === 'flag' ? undefined : words[at] };
  }
}

function ruleOf(option: string): Rule | 'global' | undefined {
  const name = option.slice(option.startsWith('--') ? 2 : 1);
  return name === 'global' ? 'global' : optionTable.get(name);
}

function checkListed(option: string, value: string | undefined): void {
  const rule = ruleOf(option);
  if (rule === undefined || (rule !== 'global' && rule.form === 'flag')) return;
  if (value === undefined) throw refusal([option], 'its value is missing');
  const reason = rule === 'global' ? refuseGlobal(value) : refuseValue(rule, value);
  if (reason !== undefined) throw refusal([option, value], reason);
}

/** `DRIVER.PROPERTY=VALUE`, or the three as keys. */
function refuseGlobal(value: string): string | undefined {
  const short = /^([^.=]{1,63})\.([^=]{1,63})=(.*)$/s.exec(value);
  const given = new Map(short ? [] : pieces(value).map(({ key, value: text }) => [key, text]));
  const [driver, property, setting] = short?.slice(1) ?? [given.get('driver'), given.get('property'), given.get('value')];
  const isWhole = short !== null || (given.size === 3 && pieces(value).length === 3);
  if (!isWhole || driver === undefined || property === undefined || setting === undefined) {
    return 'it must have the form DRIVER.PROPERTY=VALUE';
  }
  const pattern = globalVariants.get(driver)?.get(property);
  if (pattern === undefined) return `the property "${property}" of "${driver}" is none that is allowed here`;
  return pattern.test(setting) ? undefined : `the value "${setting}" of ${property} is none that is allowed here`;
}

function refusal(words: readonly string[], reason: string): Error {
  const option = words.join(' ');
  return fault('qemu_option_unsafe', {
    option: option.length > longestShown ? `${option.slice(0, longestShown)}…` : option,
    reason,
  });
}
