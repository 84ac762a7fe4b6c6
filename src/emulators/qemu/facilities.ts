import type { Mutex } from '../../lib/mutex.ts';
import type { ConfinedTools } from '../host/confined-tools.ts';
import type { Host } from '../host/host.ts';
import type { Acceleration } from './acceleration.ts';
import type { Binaries } from './binaries.ts';
import type { MemoryKey } from './memory/key.ts';
import type { VerifiedFiles } from './memory/verified-files.ts';
import type { RawDisks } from './raw-disks.ts';
import type { Sandboxes } from './sandbox.ts';

export interface QemuFacilities {
  /** Forking a large process holds up the event loop: one after the other, and requests in between. */
  readonly spawning: Mutex;
  readonly host: Host;
  readonly binaries: Binaries;
  readonly acceleration: Acceleration;
  readonly sandboxes: Sandboxes;
  readonly rawDisks: RawDisks;
  readonly tools: ConfinedTools;
  readonly memoryKey: MemoryKey;
  readonly verified: VerifiedFiles;
  /** Use datagrams for adapters, as with QEMU older than 7.2, whatever the version. For tests. */
  readonly datagrams: boolean;
  /** Where Debian's package `ovmf` has its firmware. */
  readonly firmwareFolder: string;
}
