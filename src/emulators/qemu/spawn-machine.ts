/** QEMU's process. */
import { fault } from '../../api/faults.ts';
import { type Child, spawnChild } from '../../process/child.ts';
import { beginLog } from '../../process/open-log.ts';
import type { NodeView } from '../driver.ts';
import { commandArguments, type Plan } from './command.ts';
import { commandOf, type Identity } from './give-files.ts';
import { incomingArguments, memoryArguments } from './memory/arguments.ts';
import { memoryFiles } from './memory/manifest.ts';
import { placesOf } from './places.ts';
import type { QemuProperties } from './properties.ts';
import type { QemuRecord } from './record.ts';

/** Nice values; raising a priority needs privileges, and is left where it fails. GNS3's table. */
const niceness: Readonly<Record<QemuProperties['process_priority'], number>> = {
  realtime: -20,
  'very high': -15,
  high: -5,
  normal: 0,
  low: 5,
  'very low': 19,
};

interface Spawned {
  readonly child: Child;
  /** Record without the ports and the TPM, which others have started and taken for the machine. */
  readonly record: Omit<QemuRecord, 'ports' | 'tpm'>;
}

function continuingArguments({ memory }: Plan): string[] {
  if (!memory) return [];
  if (memory.folder === undefined) return incomingArguments(memory.facts);
  return memoryArguments(memory.facts, { path: memoryFiles(memory.folder).ram, isShared: false });
}

export async function spawnMachine(node: NodeView, program: string, plan: Plan, identity: Identity): Promise<Spawned> {
  const base = commandArguments(plan);
  const args = [...base, ...continuingArguments(plan)];
  const commandLine = [program, ...args].join(' ');
  const logFile = placesOf(node).log;
  const header = `Command: ${commandLine}\n\nOutput of QEMU:\n`;
  await beginLog(logFile, header).catch((cause: Error) => {
    throw fault('storage_failed', { reason: cause.message }, { cause });
  });
  node.requireLease();
  const priority = plan.properties.process_priority;
  const child = await spawnChild({
    ...commandOf(identity, program, args, node.directory),
    cwd: node.directory,
    logFile,
    append: true,
    runDirectory: identity.runDirectory,
    ...(priority !== 'normal' && { niceness: niceness[priority] }),
  });
  const record = {
    pid: child.pid,
    startTime: child.startTime,
    commandLine,
    program,
    args: base,
    options: plan.options,
    logOffset: Buffer.byteLength(header),
    canSaveState: plan.drives.some((disk) => disk.format === 'qcow2'),
    hasSerialConsole: plan.console.type === 'telnet',
    hasScreenSocket: /^(vnc|spice)/.test(plan.console.type) && plan.console.port !== null,
  };
  return { child, record };
}
