/**
 * A second QEMU with the arguments of a machine, which receives its memory and never runs its guest. Its RAM is a file that other
 * processes can map: so the stream of a migration becomes a file, which QEMU before 9.0 cannot write itself. It is confined as the machine is.
 */
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { fault } from '../../../api/faults.ts';
import { removeTree } from '../../../lib/remove-tree.ts';
import { writeStream } from '../../../lib/stream-file.ts';
import { type Child, spawnChild } from '../../../process/child.ts';
import { beginLog } from '../../../process/open-log.ts';
import { runTool } from '../../../process/tool.ts';
import type { NodeView } from '../../driver.ts';
import type { Host } from '../../host/host.ts';
import { findUserOf, giveFolders, own, type RunAs } from '../../host/run-as.ts';
import { makePlainTaps } from '../../port-processes/machine-taps.ts';
import { commandOf, type Identity, identityOf } from '../give-files.ts';
import { Monitor } from '../monitor.ts';
import { placesOf } from '../places.ts';
import type { QemuRecord } from '../record.ts';
import { startTpm } from '../tpm.ts';
import { filesOf, memoryArguments, shadowArguments } from './arguments.ts';
import type { Inspected } from './inspect.ts';
import { memoryFiles } from './manifest.ts';
import { ignoreShared, migrated, unthrottle } from './migration.ts';
import { listenOnce } from './stream-socket.ts';

/** The file is filled before QEMU answers: 100 GiB take a minute or two. */
const startLimitMs = 300_000;
const digLimitMs = 300_000;
/** Folder of shadows, in the server's runtime folder. */
const shadowFolder = 'm';

interface ShadowParts {
  readonly node: NodeView;
  readonly host: Host;
  readonly record: QemuRecord;
  readonly inspected: Inspected;
  /** Where the memory is saved; exists. */
  readonly folder: string;
  /** The TPM emulator, where the machine has one: its state is part of that of the devices. */
  readonly swtpm: string | undefined;
}

interface Started {
  readonly taps: readonly string[];
  readonly socket: string;
  readonly runtime: string;
  readonly runAs: RunAs | undefined;
  readonly child: Child;
  readonly tpm: Child | undefined;
  readonly monitor: Monitor;
}

export class Shadow {
  /** The machine sends its memory here. */
  readonly socket: string;
  readonly #parts: ShadowParts;
  /** Folder of the shadow's sockets, beside those of the machine: that one may be stopped before this has ended. */
  readonly #runtime: string;
  readonly #runAs: RunAs | undefined;
  readonly #taps: readonly string[];
  readonly #child: Child;
  readonly #tpm: Child | undefined;
  readonly #monitor: Monitor;

  private constructor(parts: ShadowParts, rest: Started) {
    this.#parts = parts;
    this.#runtime = rest.runtime;
    this.#runAs = rest.runAs;
    this.#taps = rest.taps;
    this.#child = rest.child;
    this.#tpm = rest.tpm;
    this.#monitor = rest.monitor;
    this.socket = rest.socket;
  }

  /** Ready to receive. A failure leaves nothing behind. @throws qemu_failed, run_as_failed */
  static async start(parts: ShadowParts): Promise<Shadow> {
    const { node, host, folder } = parts;
    const { runtimeDirectory } = host.settings;
    const name = randomBytes(4).toString('hex');
    const runtime = join(runtimeDirectory, shadowFolder, name);
    // The machine, too, must reach this one.
    const socket = join(node.runtimeDirectory, `in-${name}`);
    await using made = new AsyncDisposableStack();
    made.defer(() => removeTree(runtime));
    await mkdir(runtime, { recursive: true, mode: 0o700 });
    const runAs = await findUserOf(host.settings, node.nodeId, parts.record.pid);
    await (await open(memoryFiles(folder).ram, 'wx', 0o600)).close();
    if (runAs) await giveFolders(runAs, { directory: folder, runtimeDirectory: runtime }, runtimeDirectory);
    const identity = await shadowIdentity(parts, runtime, runAs);
    const place = { directory: join(runtime, 'state'), runtimeDirectory: runtime };
    const tpm = parts.swtpm === undefined ? undefined : await startTpm(parts.swtpm, place, identity);
    made.defer(async () => void (await tpm?.stop({ graceMs: 0 })));
    const taps = parts.record.ports.flatMap(({ type }, index) => (type === 'tap' ? [`pbw${name}${index}`] : []));
    made.defer(() => removeTaps(host, taps));
    await makePlainTaps(host.linkNamespace, taps, Number(runAs?.uid ?? 0));
    const child = await spawnShadow(parts, { runtime, taps }, identity);
    made.defer(async () => void (await child.stop({ graceMs: 0 })));
    const listener = { status: () => {}, shutdown: () => {} };
    const qmp = placesOf({ directory: runtime, runtimeDirectory: runtime }).qmp;
    const monitor = await Monitor.connect(qmp, listener, { limitMs: startLimitMs, ended: child.outcome }).catch(async (cause) => {
      const words = (await child.stop({ graceMs: 0 })).tail || (cause as Error).message;
      throw fault('qemu_failed', { reason: `the memory of ${node.name} could not be received: ${words}` }, { cause });
    });
    made.defer(() => monitor.close());
    const shadow = new Shadow(parts, { taps, socket, runtime, runAs, child, tpm, monitor });
    await unthrottle(monitor);
    await monitor.execute('migrate-incoming', { uri: `unix:${shadow.socket}` });
    made.move();
    return shadow;
  }

  /** The machine has sent all: writes the state of its devices to a file, and ends. @throws qemu_failed */
  async complete(): Promise<void> {
    const { folder } = this.#parts;
    const { ram, state } = memoryFiles(folder);
    await migrated(this.#monitor);
    await ignoreShared(this.#monitor, true);
    const out = join(this.#runtime, 'out');
    const receiving = await listenOnce(out);
    try {
      if (this.#runAs) await own(this.#runAs, [out]);
      await this.#monitor.execute('migrate', { uri: `unix:${out}` });
      // A shadow that ends before it connects would leave this waiting.
      const stream = await Promise.race([receiving.stream, this.#child.outcome.then(() => undefined)]);
      if (stream === undefined) throw fault('qemu_failed', { reason: 'the process that receives the memory has ended' });
      await writeStream(state, stream, { mode: 0o600 });
      await migrated(this.#monitor);
    } finally {
      receiving.close();
    }
    await this.dispose();
    // The pages that the guest never used; where the file system has no holes, they stay.
    await runTool('fallocate', ['--dig-holes', ram], { timeoutMs: digLimitMs });
    for (const path of [ram, state]) {
      await chmod(path, 0o600);
      await synced(path);
    }
  }

  /** Ends the process and removes its sockets. Never rejects. */
  async dispose(): Promise<void> {
    this.#monitor.close();
    await this.#child.stop({ graceMs: 0 });
    await this.#tpm?.stop({ graceMs: 0 });
    await removeTaps(this.#parts.host, this.#taps);
    for (const path of [this.#runtime, this.socket]) await removeTree(path).catch(() => undefined);
  }
}

async function shadowIdentity(
  { node, host, record, folder }: ShadowParts,
  runtime: string,
  runAs: RunAs | undefined,
): Promise<Identity> {
  const { program = '', args = [], options = [], ports } = record;
  const writes = [folder, runtime, node.runtimeDirectory];
  return identityOf({ program, options, ports, runAs, writes, reads: filesOf(args) }, host);
}

async function spawnShadow(
  { node, record, inspected, folder }: ShadowParts,
  { runtime, taps }: Pick<Started, 'runtime' | 'taps'>,
  identity: Identity,
): Promise<Child> {
  const { program = '', args = [] } = record;
  const { directory, runtimeDirectory } = node;
  const own = shadowArguments(args, inspected.driveBytes, { directory, runtimeDirectory, shadow: runtime, taps });
  const all = [...own, ...memoryArguments(inspected.facts, { path: memoryFiles(folder).ram, isShared: true })];
  const logFile = join(runtime, 'qemu.log');
  await beginLog(logFile, '');
  return spawnChild({
    ...commandOf(identity, program, all, runtime),
    cwd: runtime,
    logFile,
    runDirectory: identity.runDirectory,
  });
}

async function removeTaps({ linkNamespace }: Host, names: readonly string[]): Promise<void> {
  if (names.length > 0) await linkNamespace.ip.run(names.map((name) => `link delete dev ${name}`));
}

async function synced(path: string): Promise<void> {
  const file = await open(path, 'r');
  await file.sync().finally(() => file.close());
}
