/**
 * Facts of a machine that must match before it continues a saved memory. QEMU itself restores into a different machine without an error.
 */
import { readFile } from 'node:fs/promises';
import { escapeCommas } from '../options.ts';

/** Facts of the machine whose memory was saved. */
export interface MachineFacts {
  /** Path of the emulator. */
  readonly program: string;
  /** Major and minor number: the format of the memory is the same in all patch releases. */
  readonly qemu: string;
  readonly accelerator: 'kvm' | 'tcg';
  /** Model of the host's processor where the guest runs on it; empty where it is emulated. */
  readonly cpu: string;
  /** Versioned type, such as `pc-i440fx-7.2`: the name without a version is another machine in another QEMU. */
  readonly machine: string;
  /** Id of the memory that this type of machine makes by itself. */
  readonly ramId: string;
  readonly ramBytes: number;
  /** UUID that the guest sees. */
  readonly uuid: string;
  /** Result of `comparableArguments`. */
  readonly arguments: readonly string[];
  /** The machine was paused before its memory was saved. */
  readonly suspended: boolean;
}

export interface MachineFolders {
  readonly directory: string;
  readonly runtimeDirectory: string;
  readonly projectDirectory: string;
}

/** Options whose values may be others: name and uuid are set on purpose, and a saved state is restored once. */
const omitted = new Set(['-name', '-uuid', '-loadvm', '-pidfile']);

/** The arguments without what differs between a machine and its copy: names, and the folders of node and project. */
export function comparableArguments(args: readonly string[], folders: MachineFolders): string[] {
  const comparable: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? '';
    if (omitted.has(word)) at += 1;
    else comparable.push(asStream(withoutFolders(word, folders).replace(/,logappend=(?:on|off)$/, '')));
  }
  return comparable;
}

/**
 * Writes the backend of a card without offloads as the stream that it may continue on: versions that know no TAP interfaces compare
 * backends, and take such a machine.
 */
function asStream(word: string): string {
  return word.replace(/^tap,id=gns3-(\d+),.*,vnet_hdr=off$/, 'stream,id=gns3-$1,server=on,addr.type=unix,addr.path={run}/n$1');
}

/** Addresses of the cards, in their order, as `adapterArguments` writes them. */
export function macsOf({ arguments: args }: Pick<MachineFacts, 'arguments'>): string[] {
  return args.flatMap((word) => /,mac=([\da-f:]{17}),.*netdev=/.exec(word)?.[1] ?? []);
}

function withoutFolders(word: string, { directory, runtimeDirectory, projectDirectory }: MachineFolders): string {
  return moved(word, { [directory]: '{node}', [runtimeDirectory]: '{run}', [projectDirectory]: '{project}' });
}

/** The argument with other folders, whether their commas are doubled or not; of folders in each other the inner ones come first. */
export function moved(word: string, folders: Readonly<Record<string, string>>): string {
  const forms = Object.entries(folders).flatMap(([from, to]) => [
    [escapeCommas(from), escapeCommas(to)] as const,
    [from, to] as const,
  ]);
  // No argument holds a NUL: in two passes, as a target may itself be in one of the folders.
  const marked = forms.reduce((text, [from], index) => text.replaceAll(`${from}/`, `\0${index}\0/`), word);
  return forms.reduce((text, [, to], index) => text.replaceAll(`\0${index}\0`, () => to), marked);
}

/** Why a machine as it would start now cannot continue the saved memory; undefined when it can. */
export function findDifference(saved: MachineFacts, now: Partial<MachineFacts>): string | undefined {
  const differs = (what: keyof MachineFacts) => now[what] !== undefined && now[what] !== saved[what];
  if (differs('qemu')) return `it was saved by QEMU ${saved.qemu}, and this is QEMU ${now.qemu}`;
  if (differs('accelerator')) return `it was saved under ${saved.accelerator}, and the machine would run under ${now.accelerator}`;
  if (differs('cpu')) return `it was saved on a processor "${saved.cpu}", and this is "${now.cpu}"`;
  if (now.arguments === undefined) return undefined;
  if (hasOffloads(saved.arguments) && !hasOffloads(now.arguments))
    return 'it has network cards with offloads of the kernel, and there are none here: set its property offload to portable, and start it again';
  const [was, is] = [withoutBackends(saved.arguments), withoutBackends(now.arguments)];
  const at = was.findIndex((word, index) => word !== is[index]);
  if (at === -1 && is.length === was.length) return undefined;
  const [before, after] = [was, is].map((words) => words[at === -1 ? was.length : at] ?? 'nothing');
  return `the machine has changed: "${before}" is "${after}" now`;
}

/** Backends of adapters as `adapterArguments` writes them: where frames go is no part of a machine. */
const ownBackend = /^(?:stream|socket|tap),id=gns3-\d+,/;

function withoutBackends(args: readonly string[]): string[] {
  return args.filter((word, at) => !ownBackend.test(word) && !(word === '-netdev' && ownBackend.test(args[at + 1] ?? '')));
}

/**
 * Whether virtio cards know offloads of a TAP interface. Tried with QEMU 7.2: memory of such a machine continues on such an interface only,
 * all other memory on any backend.
 */
export function hasOffloads(args: readonly string[]): boolean {
  return args.some((word) => /^tap,id=gns3-\d+,/.test(word) && !word.includes(',vnet_hdr=off'));
}

/** Empty under TCG, whose processor is the same everywhere. */
export async function hostCpu(accelerator: 'kvm' | 'tcg'): Promise<string> {
  if (accelerator === 'tcg') return '';
  const text = await readFile('/proc/cpuinfo', 'utf8').catch(() => '');
  return /^model name\s*:\s*(.+)$/m.exec(text)?.[1]?.trim() ?? 'unknown';
}
