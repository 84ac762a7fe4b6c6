/** The files of a machine for the user whom its processes run as. */
import { isReallyBelow } from '../../lib/inside.ts';
import type { NodeView } from '../driver.ts';
import type { ConfinedTools } from '../host/confined-tools.ts';
import { type Confinement, type ConfinementWish, confine, confinedCommand } from '../host/confinement/confine.ts';
import { requireReach } from '../host/confinement/require-reach.ts';
import type { Host } from '../host/host.ts';
import { imageFolders, makeReadable } from '../host/readable-images.ts';
import { giveFolders, type RunAs } from '../host/run-as.ts';
import type { AdapterPort } from './adapters.ts';
import type { CheckedMachine } from './check-machine.ts';
import type { QemuFacilities } from './facilities.ts';
import type { MachineFiles } from './find-files.ts';
import { areListed } from './options-check.ts';

/** Confinement of the processes of a machine. */
export interface Identity extends Confinement {
  readonly runDirectory: string;
  /** Words before the command of a machine that runs in this folder (default: `/`); none where it stays in the host's network. */
  enter(folder?: string): readonly string[];
}

interface ConfinedMachine extends Pick<ConfinementWish, 'program' | 'runAs' | 'reads' | 'writes'> {
  readonly options: readonly string[];
  readonly ports: readonly AdapterPort[];
}

/** The confinement of a machine, or of another process with its arguments. */
export async function identityOf(machine: ConfinedMachine, { settings, linkNamespace }: Host): Promise<Identity> {
  const { options, ports } = machine;
  const hasTaps = ports.some(({ type }) => type === 'tap');
  const devices = hasTaps ? [...hostDevices, ...linkDevices] : hostDevices;
  const runDirectory = settings.runtimeDirectory;
  // Options beyond the table, on a server that permits them, may name any file of the host.
  const wanted = { ...machine, devices, runDirectory, seesHost: !areListed(options), isOpen: !settings.Qemu.sandbox };
  const enter = (folder?: string) => (hasTaps ? linkNamespace.enter(folder) : []);
  return { ...(await confine(wanted)), runDirectory, enter };
}

/** The command of a machine that runs in this folder. */
export function commandOf({ enter, ...confinement }: Identity, program: string, args: readonly string[], workingFolder: string) {
  const { program: confined, args: words, ...rest } = confinedCommand(confinement, program, args, { workingFolder });
  const [first = confined, ...others] = [...(confinement.usesBubblewrap ? enter() : enter(workingFolder)), confined, ...words];
  return { program: first, args: others, ...rest };
}

export const hostDevices = ['/dev/kvm'];
export const linkDevices = ['/dev/net/tun', '/dev/vhost-net'];

/** @throws run_as_failed with what of the machine's files its user cannot reach */
export async function giveFiles(
  node: NodeView,
  { program, options, runAs }: CheckedMachine,
  { disks, cdrom, bios, kernel, initrd, uefi }: MachineFiles,
  { ports, facilities: { host, tools } }: { readonly ports: readonly AdapterPort[]; readonly facilities: QemuFacilities },
): Promise<Identity> {
  const { directory, projectDirectory, runtimeDirectory } = node;
  const images = imageFolders(host.settings);
  const written = disks.map(({ file }) => file);
  if (runAs) await giveFolders(runAs, node, host.settings.runtimeDirectory);
  if (runAs) await giveDisks(runAs, tools, written, [...images, projectDirectory]);
  const backing = disks.flatMap((disk) => disk.backing.map(({ file }) => file));
  const read = [program, cdrom, bios, kernel, initrd, uefi?.code, ...backing].filter((path) => path !== undefined);
  if (runAs) await makeReadable(runAs, read, { folders: [...images, projectDirectory], need: 0o4 });
  const writes = [directory, runtimeDirectory, ...written];
  // The folders of images as a whole: another CD-ROM may be inserted while the machine runs.
  const machine = { program, options, ports, runAs, writes, reads: [...images, ...read] };
  const identity = await identityOf(machine, host);
  if (runAs) await requireReach({ ...identity, runAs }, { written: writes, read });
  return identity;
}

/** A disk that is no linked clone is written to where it is. One elsewhere is not ours to give away. */
async function giveDisks(runAs: RunAs, tools: ConfinedTools, disks: readonly string[], folders: readonly string[]): Promise<void> {
  for (const disk of disks) {
    const ours = await Promise.all(folders.map((folder) => isReallyBelow(folder, disk)));
    if (ours.some(Boolean)) await tools.giveFile(runAs, disk);
  }
}
