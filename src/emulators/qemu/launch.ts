/** The start of a machine as a list of steps. A failure leaves nothing running and nothing taken. */

import { setTimeout as delay } from 'node:timers/promises';
import { fault } from '../../api/faults.ts';
import type { Child } from '../../process/child.ts';
import type { MoveOffer } from '../../schema/move.ts';
import type { MachineArrival, NodeView } from '../driver.ts';
import { freePorts, takePorts } from './adapter-ports.ts';
import { assemble, type Launcher } from './assemble.ts';
import { type CheckedMachine, checkMachine } from './check-machine.ts';
import { commandArguments, type Plan } from './command.ts';
import { type Disk, savedStateName } from './disks.ts';
import { describeOutcome, type Limits, type QemuEmulator } from './emulator.ts';
import type { QemuFacilities } from './facilities.ts';
import { findFiles, imgFor } from './find-files.ts';
import { giveFiles } from './give-files.ts';
import {
  type ContinuedMachine,
  discardRestored,
  findSavedMemory,
  isSameMachine,
  restoreMemory,
  type SavedMemory,
  warnOfAddresses,
} from './memory/restore.ts';
import { Monitor } from './monitor.ts';
import { factsOf, requireOffered } from './move/offer.ts';
import { receiveMachine } from './move/receive.ts';
import { ownAddresses, planMachine } from './plan.ts';
import { spawnMachine } from './spawn-machine.ts';
import type { Throttle } from './throttle.ts';
import { startTpm } from './tpm.ts';
import { qemuSeries } from './version.ts';

interface LaunchWish {
  /** The machine continues from one on another compute, whose memory arrives here. */
  readonly arrival?: MachineArrival;
  /** The machine's memory is to continue on a compute without TAP interfaces, too, unless its properties say otherwise. Default false. */
  readonly portable?: boolean;
}

/** @throws qemu_failed with QEMU's last words, and the refusals of each step */
export async function launch(
  node: NodeView,
  launcher: Launcher,
  { arrival, portable = false }: LaunchWish = {},
): Promise<QemuEmulator> {
  const { facilities, limits } = launcher;
  const { spawning, host } = facilities;
  await using taken = new AsyncDisposableStack();
  const checked = await checkMachine(node, facilities);
  const found = arrival ? undefined : await findSavedMemory(node, facilities.memoryKey);
  const files = await findFiles(node, checked, facilities);
  if (arrival) await growDisks(checked, files.disks, arrival.offer, facilities);
  const ports = await takePorts(node, checked, facilities);
  taken.defer(() => freePorts(host, ports));
  const memory = arrival ? { facts: factsOf(arrival.offer) } : found;
  const planWith = (continued: ContinuedMachine | undefined) =>
    planMachine(node, { checked, files, ports, memory: continued, portable }, facilities);
  const wanted = await planWith(memory);
  const now = { qemu: qemuSeries(checked.version), accelerator: wanted.accelerator };
  const saved = found && (await isSameMachine(found, node, { ...now, args: commandArguments(wanted) })) ? found : undefined;
  const plan = found && !saved ? await planWith(undefined) : wanted;
  // The config disk was left as the saved memory knows it; a machine that does not continue from it gets its disk made again.
  if (found && !saved) await findFiles(node, checked, facilities);
  if (arrival) await requireOffered(arrival.offer, { ...now, arguments: commandArguments(plan) }, { node, host });
  const identity = await giveFiles(node, checked, files, { ports, facilities });
  const tpm = checked.swtpm === undefined ? undefined : await startTpm(checked.swtpm, node, identity);
  taken.defer(async () => void (await tpm?.stop({ graceMs: 0 })));
  const { child, record } = await spawning.run(() => spawnMachine(node, checked.program, plan, identity));
  // The emulator owns what was taken from now on, and releases it when it ends.
  taken.move();
  const complete = { ...record, ports, ...(tpm && { tpm: { pid: tpm.pid, startTime: tpm.startTime } }) };
  const { emulator, throttle } = assemble(node, launcher, { child, record: complete, tpm, cpulimit: checked.cpulimit });
  await bringUp(node, { emulator, throttle, plan, child, limits, saved, fill: fillingFrom(node, saved, arrival) });
  if (saved) warnOfAddresses(saved, node, ownAddresses(node, ports.length));
  return emulator;
}

/** Chooses the source of memory for a machine that continues. */
function fillingFrom(
  node: NodeView,
  saved: SavedMemory | undefined,
  arrival: MachineArrival | undefined,
): ((monitor: Monitor) => Promise<void>) | undefined {
  if (arrival) return (monitor) => receiveMachine(monitor, node, arrival);
  return saved && ((monitor) => restoreMemory(monitor, saved, node.runtimeDirectory));
}

const mebibyte = 1 << 20;

/** A disk that was made larger where the machine runs is made larger here. @throws move_refused, qemu_failed */
async function growDisks(
  { properties }: Pick<CheckedMachine, 'properties'>,
  disks: readonly Disk[],
  { drives }: MoveOffer,
  facilities: Pick<QemuFacilities, 'binaries' | 'tools'>,
): Promise<void> {
  if (disks.length === 0) return;
  const img = await imgFor(properties.qemu_path, facilities);
  for (const disk of disks) {
    const wanted = drives.find(({ name }) => name === `drive${disk.index}`)?.bytes;
    // This size is the one of a linked clone.
    const { virtualSize } = await img.info(disk.file, 'qcow2');
    const missing = ((wanted ?? 0) - virtualSize) / mebibyte;
    if (missing === 0) continue;
    const reason = `its disk drive${disk.index} has ${wanted ?? 'no'} bytes, and its image has ${virtualSize}`;
    if (missing < 0 || !Number.isInteger(missing)) throw fault('move_refused', { name: properties.hda_disk_image, reason });
    await img.grow(disk, missing, 'qcow2');
  }
}

/** Time that QEMU's last words are waited for. */
const lastWordsMs = 300;

interface Assembled {
  readonly emulator: QemuEmulator;
  readonly throttle: Throttle;
  readonly plan: Plan;
  readonly child: Child;
  readonly limits: Limits;
  /** Gives a machine that continues its memory. */
  readonly fill: ((monitor: Monitor) => Promise<void>) | undefined;
  /** Undefined for one that comes from another compute: it is resumed by its controller. */
  readonly saved: SavedMemory | undefined;
}

/** Waits for QEMU's first answer and sets what can only be set then. A failure ends it. */
async function bringUp(node: NodeView, { emulator, throttle, plan, child, limits, fill, saved }: Assembled): Promise<void> {
  try {
    const monitor = await Monitor.connect(plan.sockets.qmp, emulator, { limitMs: limits.startMs, ended: child.outcome });
    await fill?.(monitor);
    const restored = saved && { suspended: saved.facts.suspended, discard: () => discardRestored(saved) };
    await emulator.attach(monitor, restored);
    // Restored once, a state is gone: starting from it again after a crash would undo what was written to the disks since.
    if (plan.savedState !== undefined) await monitor.human(`delvm ${savedStateName}`).catch(() => {});
    for (const index of plan.adapters.keys()) {
      const up = node.carrier(index);
      if (!up || plan.memory) await emulator.setCarrier(index, up);
    }
    if (plan.properties.cpu_throttling > 0 && !(await throttle.set(plan.properties.cpu_throttling))) {
      throw fault('qemu_failed', { reason: 'the processor limit could not be set' });
    }
  } catch (cause) {
    // QEMU's own words explain more than a connection that broke, which a QEMU that is about to end may do.
    await Promise.race([child.outcome, delay(lastWordsMs)]);
    const outcome = await child.stop({ graceMs: 0 });
    await emulator.ended;
    const words = outcome.tail === '' ? '' : `: ${outcome.tail}`;
    const reason = outcome.how === 'killed' ? `${(cause as Error).message}${words}` : describeOutcome(outcome);
    throw fault('qemu_failed', { reason: `${node.name} did not start. ${reason}` }, { cause });
  }
}
