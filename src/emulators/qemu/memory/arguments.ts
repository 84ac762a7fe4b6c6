/** QEMU's arguments where memory is saved and restored: those of the machine, with other folders and a memory that is a file. */
import { escapeCommas } from '../options.ts';
import { pieces } from '../options-rules.ts';
import { type MachineFacts, moved } from './facts.ts';

/** Arguments behind those of a machine whose memory is a file: it waits for the state of its devices. */
export function memoryArguments(
  { machine, ramId, ramBytes }: Pick<MachineFacts, 'machine' | 'ramId' | 'ramBytes'>,
  file: { readonly path: string; readonly isShared: boolean },
): string[] {
  // Filling a new file costs a page fault each 4 KiB, which a journaling file system makes slow: before the machine is paused, not while.
  const share = `share=${file.isShared ? 'on,prealloc=on' : 'off'}`;
  return [
    ...['-object', `memory-backend-file,id=${ramId},size=${ramBytes},${share},mem-path=${escapeCommas(file.path)}`],
    ...incomingArguments({ machine: `${machine},memory-backend=${ramId}` }),
  ];
}

/** Arguments behind those of a machine that waits for its state, and is paused then. */
export function incomingArguments({ machine }: Pick<MachineFacts, 'machine'>): string[] {
  return ['-machine', machine, '-incoming', 'defer', '-S'];
}

/** The file or folder of each of these stays in use. */
const keptFiles = new Set(['-bios', '-kernel', '-initrd']);

interface ShadowFolders {
  readonly directory: string;
  readonly runtimeDirectory: string;
  /** Folder of all sockets and files of the other process. */
  readonly shadow: string;
  /** TAP interfaces of the other process, by adapter, where the machine has some. */
  readonly taps: readonly string[];
}

/**
 * The arguments of a machine for another process that never runs the guest: its sockets and logs are elsewhere, and its drives have the
 * sizes of the machine's (`driveBytes`, by the ids that QEMU gives them) and no content.
 */
export function shadowArguments(
  args: readonly string[],
  driveBytes: ReadonlyMap<string, number>,
  { directory, runtimeDirectory, shadow, taps }: ShadowFolders,
): string[] {
  let pflashes = 0;
  return args.flatMap((word, at) => {
    const option = args[at - 1] ?? '';
    if (word === '-loadvm' || option === '-loadvm') return [];
    if (option === '-drive') {
      const given = pieces(word);
      const isPflash = given.some(({ key, value }) => key === 'if' && value === 'pflash');
      const id = given.find(({ key }) => key === 'id')?.value ?? (isPflash ? `pflash${pflashes++}` : '');
      return [emptyDrive(given, driveBytes.get(id) ?? 0)];
    }
    const tap = option === '-netdev' ? /^tap,id=gns3-(\d+),/.exec(word) : null;
    if (tap) return [word.replace(/,ifname=[^,]*/, `,ifname=${taps[Number(tap[1])]}`).replace(',vhost=on', '')];
    return [keptFiles.has(option) ? word : moved(word, { [directory]: shadow, [runtimeDirectory]: shadow })];
  });
}

/** The drive as it is attached, without its image. */
function emptyDrive(given: ReturnType<typeof pieces>, bytes: number): string {
  const attached = given.filter(({ key }) => !/^(?:file|format|backing\..*)$/.test(key));
  const words = attached.map(({ key, value = '' }) => `${key}=${escapeCommas(value)}`);
  return [`driver=null-co,size=${bytes},read-zeroes=on`, ...words].join(',');
}

/** Files that the shadow reads. */
export function filesOf(args: readonly string[]): string[] {
  return args.filter((_, at) => keptFiles.has(args[at - 1] ?? ''));
}
