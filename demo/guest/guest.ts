/**
 * The guest of the demo and of the tests: a Linux small enough to reach its prompt three seconds after its start without hardware
 * acceleration. Built locally from Debian's own packages (the cloud kernel and a static busybox), which are downloaded and
 * unpacked but not installed, and kept in the user's cache folder; later runs need neither network nor apt.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { type CpioEntry, cpio } from './cpio.ts';
import {
  exists,
  fetchedVersions,
  fetchPackages,
  filesBelow,
  isRoot,
  resolveMetaPackage,
  run,
  updateLists,
  withWorkFolder,
} from './debian.ts';
import { unpackKernel } from './vmlinux.ts';

export interface Guest {
  /** Absolute paths for `kernel_image` and `initrd`. */
  kernel: string;
  initrd: string;
}

/** Memory with which the guest runs comfortably; 80 MB is the least (measured with kernel 6.1). */
export const guestRamMiB = 96;

/** Loaded at every start, in order of their dependencies: network, disks, the power button, and FAT with its names of files. */
const modules = ['virtio_pci', 'virtio_net', 'virtio_blk', 'button', 'evdev', 'nls_cp437', 'nls_ascii', 'vfat'];
const kernelMeta = 'linux-image-cloud-amd64';
const initFile = path.join(import.meta.dirname, 'init');
/** Raised when the build of the guest changes. */
const recipeVersion = 1;

/**
 * Returns the kernel's command line for every start of the guest; `ips` has one address per interface, "-" for none. Its devices
 * need no interrupt lines, and to look for these by ACPI takes an emulated processor 0.3 s each (`acpi=noirq`).
 */
export function guestCommandLine(host: string, ips: readonly string[]): string {
  return `console=ttyS0 quiet no_timer_check mitigations=off ipv6.disable=1 cryptomgr.notests acpi=noirq host=${host} ips=${ips.join(',')}`;
}

/** The guest's files: from the cache, or built now. @throws Error with the remedy when they are neither cached nor can be built. */
export async function ensureGuest(log: (line: string) => void = () => {}): Promise<Guest> {
  const cache = path.join(process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'patchbay');
  const init = await readFile(initFile);
  const recipe = createHash('sha256')
    .update(init)
    .update(`${recipeVersion} ${modules.join(' ')}`)
    .digest('hex')
    .slice(0, 8);
  return (await findGuest(cache, recipe)) ?? (await buildGuest(cache, recipe, init, log));
}

async function findGuest(cache: string, recipe: string): Promise<Guest | undefined> {
  const names = await readdir(cache).catch((): string[] => []);
  const newest = names
    .filter((name) => name.startsWith('guest-') && name.endsWith(`-${recipe}`))
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
    .at(-1);
  return newest === undefined ? undefined : guestIn(path.join(cache, newest));
}

const guestIn = (folder: string): Guest => ({ kernel: path.join(folder, 'kernel'), initrd: path.join(folder, 'initrd') });

async function buildGuest(cache: string, recipe: string, init: Buffer, log: (line: string) => void): Promise<Guest> {
  const began = performance.now();
  await checkMachine();
  await mkdir(cache, { recursive: true });
  return withWorkFolder(cache, async (work) => {
    const kernelPackage = await findKernelPackage(log);
    log(`Guest: downloading ${kernelPackage} and busybox-static (about 28 MB)`);
    await fetchPackages([kernelPackage, 'busybox-static'], work, ['boot/vmlinuz-*', 'bin/busybox', ...modulePatterns]);
    const version = (await fetchedVersions(work))[kernelPackage] ?? 'unknown';
    log(`Guest: unpacking kernel ${version}`);
    const made = path.join(work, 'guest');
    await mkdir(made);
    await writeGuest(path.join(work, 'root'), made, init);
    const folder = path.join(cache, `guest-${version.replace(/[^\w.+-]/g, '_')}-${recipe}`);
    // Another process may have built the same guest concurrently: either result is valid.
    await rename(made, folder).catch(async (error: unknown) => {
      if (!(await exists(guestIn(folder).kernel))) throw error;
    });
    log(`Guest: made in ${((performance.now() - began) / 1000).toFixed(1)} s, kept in ${folder}`);
    return guestIn(folder);
  });
}

/** Modules lie in folders that differ between kernels; a dependency may be any of these. */
const modulePatterns = ['virtio*.ko*', 'net_failover.ko*', 'failover.ko*', 'button.ko*', 'evdev.ko*', '*fat.ko*', 'nls_*.ko*'];

async function checkMachine(): Promise<void> {
  const architecture = (await run('dpkg', ['--print-architecture'])).stdout.trim();
  if (architecture === 'amd64') return;
  throw new Error(
    architecture === ''
      ? "The guest is made of Debian's packages, and this machine has no dpkg: run this on Debian or a relative of it"
      : `The guest is made of Debian's amd64 kernel, and this machine is ${architecture}`,
  );
}

async function findKernelPackage(log: (line: string) => void): Promise<string> {
  let found = await resolveMetaPackage(kernelMeta);
  if (found === undefined && isRoot()) {
    log('Guest: bringing the package lists up to date (apt-get update)');
    await updateLists();
    found = await resolveMetaPackage(kernelMeta);
  }
  if (found === undefined) throw new Error(`apt knows no package ${kernelMeta}: run as root: apt-get update`);
  return found;
}

async function writeGuest(root: string, folder: string, init: Buffer): Promise<void> {
  const boot = await filesBelow(path.join(root, 'boot'), '');
  const [bzImagePath] = boot.values();
  if (bzImagePath === undefined) throw new Error('The kernel package has no /boot/vmlinuz-…: the guest cannot be made of it');
  const bzImage = await readFile(bzImagePath);
  await writeFile(path.join(folder, 'kernel'), unpackKernel(bzImage) ?? bzImage);
  const loaded = await orderModules(await filesBelow(root, '.ko'));
  if (!loaded.some(({ name }) => name === 'virtio_net'))
    throw new Error('The kernel package has no virtio_net.ko: the guest would have no network');
  const entries: CpioEntry[] = [
    { path: 'bin', type: 'directory' },
    { path: 'bin/busybox', type: 'file', data: await readFile(path.join(root, 'bin/busybox')), executable: true },
    { path: 'dev', type: 'directory' },
    { path: 'dev/console', type: 'character-device', major: 5, minor: 1 },
    { path: 'modules', type: 'directory' },
    ...loaded.map(({ name, data }): CpioEntry => ({ path: `modules/${name}.ko`, type: 'file', data })),
    { path: 'modules/order', type: 'file', data: Buffer.from(loaded.map(({ name }) => `${name}.ko\n`).join('')) },
    { path: 'init', type: 'file', data: init, executable: true },
  ];
  // The archive is not compressed: unpacking costs an emulated processor more time than reading.
  await writeFile(path.join(folder, 'initrd'), cpio(entries));
}

/** The listed modules and their dependencies, each after its dependencies. A missing module is built into the kernel. */
async function orderModules(files: ReadonlyMap<string, string>): Promise<{ name: string; data: Buffer }[]> {
  const ordered: { name: string; data: Buffer }[] = [];
  const seen = new Set<string>();
  const visit = async (name: string): Promise<void> => {
    const file = files.get(name);
    if (file === undefined || seen.has(name)) return;
    seen.add(name);
    const data = await readFile(file);
    for (const needed of dependencies(data)) await visit(needed);
    ordered.push({ name, data });
  };
  for (const name of modules) await visit(name);
  return ordered;
}

/** Names in the `depends=` entry of a module's `.modinfo` section: comma separated, ended by NUL. */
function dependencies(module: Buffer): string[] {
  const at = module.indexOf('\0depends=');
  if (at < 0) return [];
  const start = at + '\0depends='.length;
  const list = module.toString('latin1', start, module.indexOf(0, start));
  return list.split(',').filter((name) => name !== '');
}
