/** When the controller's host was booted: what `/proc/uptime` and the id of the boot say. */
import type { Simulation } from './simulation.ts';

const boots = new WeakMap<Simulation, { at: number; count: number }>();

function of(simulation: Simulation): { at: number; count: number } {
  const known = boots.get(simulation) ?? { at: -1_000_000, count: 1 };
  boots.set(simulation, known);
  return known;
}

export function boot(simulation: Simulation): void {
  const known = of(simulation);
  known.at = simulation.kernel.now;
  known.count += 1;
}

export function bootOf(simulation: Simulation): { readonly uptimeSeconds: number; readonly id: string } {
  const { at, count } = of(simulation);
  return { uptimeSeconds: (simulation.kernel.now - at) / 1000, id: `boot-${count}` };
}
