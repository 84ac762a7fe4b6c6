/** The verbs of IOU. A node is its image and the two programs of its console (`confined.ts`); all of them are one process group. */
import { lstat, mkdir } from 'node:fs/promises';
import { freemem } from 'node:os';
import { join } from 'node:path';
import { fault, isFault } from '../../api/faults.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import { adoptChild, type Child, spawnChild } from '../../process/child.ts';
import type { Driver, Emulator, NodeView, StartOptions } from '../driver.ts';
import type { Host } from '../host/host.ts';
import { imageFolders, makeReadable } from '../host/readable-images.ts';
import { findRunAs, own, type RunAs } from '../host/run-as.ts';
import { saveAfterEnd } from '../ios-nvram/config-watch.ts';
import { importConfigs, mostNvram } from '../ios-nvram/configs.ts';
import { writeNodeFile } from '../ios-nvram/node-files.ts';
import { storedNodes } from '../storage-only/storage-only-driver.ts';
import { iouArguments, mostBays, netmap } from './command.ts';
import { confineIou, netioFolder } from './confined.ts';
import { type IouRecord, logName, makeEmulator, wordsOf } from './emulator.ts';
import { checkImage } from './image.ts';
import { iouImages } from './kind.ts';
import { findLicense } from './license.ts';
import { asIou, type IouProperties } from './properties.ts';
import { iouStorage } from './storage.ts';

/** An image opens its socket within a second of its start; after this time it is taken to be started without. */
const startLimitMs = 15_000;
const lookMs = 20;

export function iouDriver(host: Host): Driver {
  /** License option of each node's last start: a reload, which is a stop and a start, has no options of its own. */
  const licensing = new Map<string, Pick<StartOptions, 'license_check'>>();
  const stored = storedNodes(iouStorage, host);
  return {
    ...stored,
    async start(node, options = {}) {
      const known = 'license_check' in options ? { license_check: options.license_check } : licensing.get(node.nodeId);
      const emulator = await startIou(host, node, { ...options, ...known });
      if (known) licensing.set(node.nodeId, known);
      stored.clearLack(node.nodeId);
      return emulator;
    },
    async adopt(node, kept) {
      const record = kept as IouRecord;
      const { pid, startTime, license_check } = record;
      const logFile = join(node.directory, logName);
      const child = await adoptChild({ pid, startTime, logFile, runDirectory: host.settings.runtimeDirectory });
      if (license_check !== undefined) licensing.set(node.nodeId, { license_check });
      if (child === undefined) await saveAfterEnd(node, asIou(node.properties).application_id);
      return child && makeEmulator(node, child, record);
    },
    async removed(nodeId) {
      licensing.delete(nodeId);
      stored.clearLack(nodeId);
    },
  };
}

async function startIou(host: Host, node: NodeView, options: StartOptions): Promise<Emulator> {
  const { directory, runtimeDirectory } = node;
  const { settings } = host;
  const properties = asIou(node.properties);
  refuseContradictions(properties);
  const path = await host.images.of(iouImages).resolve(properties.path, node.projectDirectory);
  const runAs = await findRunAs(settings, node.nodeId);
  if (runAs) await makeReadable(runAs, [path], { folders: [...imageFolders(settings), node.projectDirectory], need: 0o5 });
  const image = await checkImage(path, runAs);
  const license = await findLicense(settings, directory, options);
  warnAboutMemory(node, properties);
  const args = iouArguments(properties);
  const ramMiB = properties.ram;
  const command = await prepareFolder(directory, properties, runAs)
    .then(() => confineIou({ directory, runtimeDirectory, image, args, license, ramMiB, runAs }))
    .catch((cause: Error) => {
      // A folder that a client has made in place of a file, a full disk.
      throw isFault(cause) ? cause : fault('storage_failed', { reason: cause.message }, { cause });
    });
  const logFile = join(directory, logName);
  node.requireLease();
  const child = await spawnChild({ ...command, logFile, append: true, runDirectory: settings.runtimeDirectory });
  const { pid, startTime } = child;
  try {
    await requireStarted(node, child, join(netioFolder(runtimeDirectory), String(properties.application_id)));
  } catch (error) {
    await child.stop({ graceMs: 0 });
    throw error;
  }
  const { license_check } = options;
  const commandLine = [path, ...args].join(' ');
  return makeEmulator(node, child, { pid, startTime, commandLine, ...(license_check !== undefined && { license_check }) });
}

function refuseContradictions({ ethernet_adapters, serial_adapters, nvram }: IouProperties): void {
  if (nvram > mostNvram) throw fault('iou_failed', { reason: `nvram is ${nvram} KiB, more than ${mostNvram}: lower it` });
  const adapters = ethernet_adapters + serial_adapters;
  if (adapters <= mostBays) return;
  throw fault('iou_failed', {
    reason: `IOU has room for ${mostBays} adapters, and ${adapters} are set: lower ethernet_adapters or serial_adapters`,
  });
}

function warnAboutMemory(node: NodeView, { ram }: IouProperties): void {
  const freeMiB = Math.floor(freemem() / 2 ** 20);
  if (ram > freeMiB) node.warn(`${node.name} is given ${ram} MiB of memory, but only ${freeMiB} MiB are free`);
}

/** Files that the image reads in its working folder. */
async function prepareFolder(directory: string, properties: IouProperties, runAs: RunAs | undefined): Promise<void> {
  await mkdir(directory, { recursive: true });
  await importConfigs(directory, properties);
  await writeNodeFile(join(directory, 'NETMAP'), netmap(properties));
  await removeTree(join(directory, logName));
  if (runAs) await own(runAs, [directory]);
}

/** Waits for the socket of its frames. @throws iou_failed with its last words */
async function requireStarted(node: NodeView, child: Child, socket: string): Promise<void> {
  let hasEnded = false;
  void child.outcome.then(() => {
    hasEnded = true;
  });
  const limit = performance.now() + startLimitMs;
  while (!hasEnded && performance.now() < limit) {
    if ((await lstat(socket).catch(() => undefined))?.isSocket()) return;
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
  if (hasEnded) {
    throw fault('iou_failed', { reason: `${node.name} did not start: ${wordsOf(await child.outcome)}` });
  }
  node.warn(`${node.name} has not opened its network socket yet: its links carry nothing until then`);
}
