/** Impairs a link and verifies that the traffic changes accordingly. */
import { ms, type Outcome, round, seconds } from './outcome.ts';
import { ping } from './ping.ts';
import type { Session } from './session.ts';
import { manyPings } from './steps-set-up.ts';
import { addresses } from './topology.ts';

export const latencyMs = 25;
/** Tolerance of the added round trip against twice the latency. */
const latencyToleranceMs = 10;
export const dropEvery = 4;

/** Compares the shortest round trips: on a busy machine the median measures the machine. */
export async function latency(session: Session): Promise<Outcome> {
  await session.change({ filters: { latency: [latencyMs] } });
  const {
    lossPercent,
    medianMs = Number.NaN,
    quickestMs = Number.NaN,
  } = await ping(session.consoles.vm1, addresses.vm2, manyPings);
  const more = quickestMs - session.plainMs;
  return {
    expected: `round trip +${2 * latencyMs} ms`,
    measured: `+${ms(more)} (${ms(quickestMs)} after ${ms(session.plainMs)}), ${lossPercent} % lost`,
    good: lossPercent === 0 && Math.abs(more - 2 * latencyMs) <= latencyToleranceMs,
    figures: { quickestMs, medianMs, plainMs: session.plainMs, moreMs: round(more), lossPercent },
  };
}

/** The filter counts both directions together, so echo and reply alternate: every second reply is a fourth frame. */
export async function frequencyDrop(session: Session): Promise<Outcome> {
  await session.change({ filters: { frequency_drop: [dropEvery] } });
  const { lossPercent, sent, received } = await ping(session.consoles.vm1, addresses.vm2, manyPings);
  await session.change({ filters: {} });
  return {
    expected: 'every 4th frame: 50 % of pings lost',
    measured: `${lossPercent} % lost (${sent - received} of ${sent})`,
    good: lossPercent >= 40 && lossPercent <= 60,
    figures: { lossPercent, sent, received },
  };
}

export async function suspend(session: Session): Promise<Outcome> {
  await session.change({ suspend: true });
  const { lossPercent } = await ping(session.consoles.vm1, addresses.vm2, { count: 5, intervalMs: 200, waitSeconds: 1 });
  return { expected: 'all lost', measured: `${lossPercent} % lost`, good: lossPercent === 100, figures: { lossPercent } };
}

export async function resume(session: Session): Promise<Outcome> {
  const { vm1 } = session.consoles;
  const began = performance.now();
  await session.change({ suspend: false });
  // A guest notices the restored carrier, and waits up to a second before it sends again.
  await vm1.run(`until ping -c 1 -W 1 ${addresses.vm2}; do :; done`);
  const backMs = performance.now() - began;
  const { lossPercent } = await ping(vm1, addresses.vm2, { count: 10, intervalMs: 100 });
  return {
    expected: 'none lost',
    measured: `${lossPercent} % lost, first answer after ${seconds(backMs)}`,
    good: lossPercent === 0,
    figures: { lossPercent, backMs: round(backMs) },
  };
}
