/** The memory of a running machine as files, in steps: only the second one has to find it paused. */
import { chmod, mkdir } from 'node:fs/promises';
import type { MemorySaver, NodeView } from '../../driver.ts';
import type { Host } from '../../host/host.ts';
import { own } from '../../host/run-as.ts';
import type { Monitor } from '../monitor.ts';
import type { QemuRecord } from '../record.ts';
import { findObstacle, inspect } from './inspect.ts';
import type { MemoryKey } from './key.ts';
import { memoryFiles, writeManifest } from './manifest.ts';
import { ignoreShared, migrateTo, unthrottle } from './migration.ts';
import { Shadow } from './shadow.ts';
import type { VerifiedFiles } from './verified-files.ts';

/**
 * An answer of the monitor takes a turn of QEMU's main loop, which reads up to 68 KiB for each card (`NET_BUFSIZE`); a Unix socket holds
 * 208 KiB (`net.core.wmem_default`).
 */
const settlingTurns = 4;
/**
 * Turns for TAP interfaces: each sends up to 50 frames; a TAP interface holds 1,000 (`tx_queue_len`). Source: QEMU 7.2, `tap_send` in
 * net/tap.c.
 */
const settlingTurnsOfTaps = 24;

interface SaveParts {
  readonly node: NodeView;
  readonly host: Host;
  readonly key: MemoryKey;
  readonly verified: VerifiedFiles;
  readonly record: QemuRecord;
  readonly monitor: Monitor;
  /** Path of the TPM emulator. @throws qemu_failed */
  readonly findTpm: () => Promise<string>;
  /** The user has paused the machine. QEMU does not tell that from a pause of ours, for its links or for an earlier save. */
  readonly suspended: boolean;
}

/**
 * Makes `folder` and what receives the memory. A failure leaves no process.
 * @returns the reason, for people, where the memory cannot be saved. @throws qemu_failed, run_as_failed, and errors of the system
 */
export async function prepareSaving(parts: SaveParts, folder: string): Promise<MemorySaver | string> {
  const { node, host, key, verified, record, monitor, suspended, findTpm } = parts;
  const inspected = findObstacle(record) ?? (await inspect(monitor, record, node));
  if (typeof inspected === 'string') return inspected;
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o700);
  const swtpm = record.tpm && (await findTpm());
  const shadow = await Shadow.start({ node, host, record, inspected, folder, swtpm });
  return {
    ramBytes: inspected.facts.ramBytes,
    async settle() {
      const turns = record.ports.some(({ type }) => type === 'tap') ? settlingTurnsOfTaps : settlingTurns;
      for (let turn = 0; turn < turns; turn++) await monitor.status();
    },
    async transfer() {
      await leavePostmigrate(monitor);
      await unthrottle(monitor);
      // A machine that was restored itself ignored it.
      await ignoreShared(monitor, false);
      await migrateTo(monitor, shadow.socket);
    },
    async finish() {
      await shadow.complete();
      // The saved files belong to the server: no emulator may change them.
      if (process.getuid?.() === 0) await own({ user: 'root', uid: '0', gid: '0' }, [folder]);
      await writeManifest(folder, await key.get(), { ...inspected.facts, suspended });
      await verified.add(memoryFiles(folder).ram);
    },
    dispose: () => shadow.dispose(),
  };
}

/**
 * A machine that was paused when it was saved last, and since: QEMU sends it again only after it ran, for some microseconds. Its links are
 * held. Source: QEMU 7.2, `migrate_prepare` in migration/migration.c.
 */
async function leavePostmigrate(monitor: Monitor): Promise<void> {
  if ((await monitor.status()) !== 'postmigrate') return;
  await monitor.execute('cont');
  await monitor.execute('stop');
}
