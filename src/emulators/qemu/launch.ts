/** The start of a machine as a list of steps. A failure leaves nothing running and nothing taken. */
import type { MachineArrival, NodeView } from '../driver.ts';
import { freePorts, takePorts } from './adapter-ports.ts';
import { assemble, type Launcher } from './assemble.ts';
import { bringUp } from './bring-up.ts';
import { checkMachine } from './check-machine.ts';
import { commandArguments } from './command.ts';
import type { QemuEmulator } from './emulator.ts';
import { findFiles } from './find-files.ts';
import { giveFiles } from './give-files.ts';
import {
  type ContinuedMachine,
  findSavedMemory,
  isSameMachine,
  restoreMemory,
  type SavedMemory,
  warnOfAddresses,
} from './memory/restore.ts';
import type { Monitor } from './monitor.ts';
import { growDisks } from './move/grow-disks.ts';
import { factsOf, requireOffered } from './move/offer.ts';
import { receiveMachine } from './move/receive.ts';
import { ownAddresses, planMachine } from './plan.ts';
import { spawnMachine } from './spawn-machine.ts';
import { startTpm } from './tpm.ts';
import { qemuSeries } from './version.ts';

export interface LaunchWish {
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
