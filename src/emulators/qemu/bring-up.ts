/** The last step of a start. */
import { setTimeout as delay } from 'node:timers/promises';
import { fault } from '../../api/faults.ts';
import type { Child } from '../../process/child.ts';
import type { NodeView } from '../driver.ts';
import type { Plan } from './command.ts';
import { savedStateName } from './disks.ts';
import { describeOutcome, type Limits, type QemuEmulator } from './emulator.ts';
import { discardRestored, type SavedMemory } from './memory/restore.ts';
import { Monitor } from './monitor.ts';
import type { Throttle } from './throttle.ts';

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
export async function bringUp(node: NodeView, { emulator, throttle, plan, child, limits, fill, saved }: Assembled): Promise<void> {
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
