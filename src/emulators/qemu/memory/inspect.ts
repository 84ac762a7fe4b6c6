/** Inspects a running machine: its facts, and whether its memory can be saved. */

import { Acceleration, ask, BlockDevices, MachineTypes, MemorySize, QemuVersion, Text, Uuid } from '../answers.ts';
import { hasFeature } from '../features.ts';
import type { Monitor } from '../monitor.ts';
import { hasOption } from '../options.ts';
import type { QemuRecord } from '../record.ts';
import { comparableArguments, hostCpu, type MachineFacts, type MachineFolders } from './facts.ts';
import { blockedReasons } from './migration.ts';

export interface Inspected {
  readonly facts: MachineFacts;
  /** Sizes of its drives by their ids. */
  readonly driveBytes: ReadonlyMap<string, number>;
}

/** Options of a user with which the memory can be saved: they name no file, no other memory and no process. */
const permitted = new Set([
  ...['nodefaults', 'nographic', 'display', 'vga', 'machine', 'M', 'accel', 'enable-kvm', 'cpu', 'smp', 'boot', 'rtc', 'global'],
  ...['device', 'smbios', 'uuid', 'name', 'k', 'usb', 'no-reboot', 'no-shutdown', 'no-hpet', 'no-acpi', 'no-fd-bootchk'],
]);

/** The first of a user's options that may be more than the machine's own: one that names a file, a port of the host or a process. */
export function findOtherOption(options: readonly string[]): string | undefined {
  const words = options.filter((word) => word.startsWith('-')).map((word) => word.replace(/^--?/, ''));
  return words.find((word) => !permitted.has(word));
}

/** Why the memory of this machine cannot be saved, as far as its start tells; for people. */
export function findObstacle({ args, program, options = [], hasScreenSocket }: QemuRecord): string | undefined {
  if (args === undefined || program === undefined) return 'it was started by an earlier version: stop and start it';
  const other = findOtherOption(options);
  if (other === 'snapshot') return 'its option -snapshot discards what it writes to its disks';
  if (other !== undefined) return `its memory cannot be saved with the option -${other}`;
  if (hasScreenSocket && hasOption(args, 'spice')) return 'its console is SPICE';
  return undefined;
}

/** @throws qemu_failed; @returns the reason, for people, where the memory cannot be saved */
export async function inspect(monitor: Monitor, record: QemuRecord, folders: MachineFolders): Promise<Inspected | string> {
  const status = await monitor.status();
  if (status === 'suspended') return 'its guest sleeps (ACPI S3), and would not wake up again';
  if (!/^(?:running|paused|postmigrate)$/.test(status)) return `QEMU reports the state ${status}`;
  const [blocked] = await blockedReasons(monitor);
  if (blocked !== undefined) return blocked;
  const { qemu } = await ask(monitor, 'query-version', QemuVersion);
  if (!hasFeature([qemu.major, qemu.minor], 'memoryFiles')) return 'that needs QEMU 7.2 or later';
  const kind = await ask(monitor, 'qom-get', Text, { path: '/machine', property: 'type' });
  const machine = kind.replace(/-machine$/, '');
  const types = await ask(monitor, 'query-machines', MachineTypes);
  const ramId = types.find(({ name }) => name === machine)?.['default-ram-id'];
  if (ramId === undefined) return `machines of type ${machine} have no memory that can be a file`;
  const { enabled } = await ask(monitor, 'query-kvm', Acceleration);
  const accelerator = enabled ? 'kvm' : 'tcg';
  const memory = await ask(monitor, 'query-memory-size-summary', MemorySize);
  const { UUID } = await ask(monitor, 'query-uuid', Uuid);
  const facts: MachineFacts = {
    program: record.program ?? '',
    ...{ qemu: `${qemu.major}.${qemu.minor}`, accelerator, cpu: await hostCpu(accelerator), machine, ramId },
    ...{ ramBytes: memory['base-memory'], uuid: UUID, suspended: status === 'paused' },
    arguments: comparableArguments(record.args ?? [], folders),
  };
  return { facts, driveBytes: await driveSizes(monitor) };
}

async function driveSizes(monitor: Monitor): Promise<Map<string, number>> {
  const devices = await ask(monitor, 'query-block', BlockDevices);
  return new Map(devices.map(({ device, inserted }) => [device, inserted?.image['virtual-size'] ?? 0]));
}
