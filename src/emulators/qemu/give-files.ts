/** The files of a machine for the user whom its processes run as. */
import { isAbsolute } from 'node:path';
import { isReallyBelow } from '../../lib/inside.ts';
import type { NodeView } from '../driver.ts';
import type { ConfinedTools } from '../host/confined-tools.ts';
import { openFolders } from '../host/confinement/open-folders.ts';
import type { Host } from '../host/host.ts';
import { giveFolders, type RunAs, requireReach } from '../host/run-as.ts';
import type { AdapterPort } from './adapters.ts';
import type { CheckedMachine } from './check-machine.ts';
import type { QemuFacilities } from './facilities.ts';
import type { MachineFiles } from './find-files.ts';
import { qemuImages } from './kind.ts';
import { asQemu, slots } from './properties.ts';

/** Whom the processes of a machine run as. */
export interface Identity {
  readonly runDirectory: string;
  readonly runAs: RunAs | undefined;
  /** Of `openFolders`. */
  readonly table: string | undefined;
  /** Words before the command of a machine with these ports, which is to run in this folder; none where it stays in the host's network. */
  enter(ports: readonly AdapterPort[], directory: string): readonly string[];
}

export function enterWith({ linkNamespace }: Pick<Host, 'linkNamespace'>): Identity['enter'] {
  return (ports, directory) => (ports.some(({ type }) => type === 'tap') ? linkNamespace.enter(directory) : []);
}

/** A command behind other words. */
export function behind(words: readonly string[], command: { readonly program: string; readonly args: readonly string[] }) {
  const [program = command.program, ...args] = [...words, command.program, ...command.args];
  return { program, args };
}

/** @throws run_as_failed with what of the machine's files its user cannot reach */
export async function giveFiles(
  node: NodeView,
  checked: CheckedMachine,
  files: MachineFiles,
  facilities: QemuFacilities,
): Promise<Identity> {
  const { host } = facilities;
  const { runAs } = checked;
  const table = runAs && (await openFiles(runAs, node, { ...files, ...checked }, facilities));
  return { runDirectory: host.settings.runtimeDirectory, runAs, table, enter: enterWith(host) };
}

/** @returns the table of `openFolders`. @throws run_as_failed with what of the machine's files its user cannot reach */
async function openFiles(
  runAs: RunAs,
  node: NodeView,
  { disks, program, swtpm, cdrom, bios, kernel, initrd, uefi }: MachineFiles & CheckedMachine,
  { host, tools }: QemuFacilities,
): Promise<string | undefined> {
  const { directory, projectDirectory, runtimeDirectory } = node;
  const { images_path, additional_images_path } = host.settings.Server;
  await giveFolders(runAs, node, host.settings.runtimeDirectory);
  const read = [program, swtpm, cdrom, bios, kernel, initrd, uefi?.code].filter((path) => path !== undefined);
  const written = disks.map(({ file }) => file);
  const imageFolders = [images_path, ...additional_images_path.split(';').filter(isAbsolute)];
  await giveDisks(tools, written, [...imageFolders, projectDirectory]);
  const backing = await backingFiles(node, host);
  const folders = [directory, runtimeDirectory, ...imageFolders];
  const table = await openFolders(runAs, [...folders, ...written, ...read, ...backing], host.settings.runtimeDirectory);
  await requireReach(runAs, { written: [directory, runtimeDirectory, ...written], read: [...read, ...backing], table });
  return table;
}

/** A disk that is no linked clone is written to where it is. One elsewhere is not ours to give away. */
async function giveDisks(tools: ConfinedTools, disks: readonly string[], folders: readonly string[]): Promise<void> {
  for (const disk of disks) {
    const ours = await Promise.all(folders.map((folder) => isReallyBelow(folder, disk)));
    if (ours.some(Boolean)) await tools.giveFile(disk);
  }
}

/** The images that linked clones are made from. */
async function backingFiles({ properties, projectDirectory }: NodeView, host: QemuFacilities['host']): Promise<string[]> {
  const qemu = asQemu(properties);
  if (!qemu.linked_clone) return [];
  const references = slots.map((slot) => qemu[`${slot}_disk_image`]).filter((reference) => reference !== '');
  const images = host.images.of(qemuImages);
  const found = references.map((reference) => images.resolve(reference, projectDirectory).catch(() => undefined));
  return (await Promise.all(found)).filter((path) => path !== undefined);
}
