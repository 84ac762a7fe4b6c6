/** What goes wrong in a play, by its name in a schedule. */
import type { Step, Trouble } from '../schedule.ts';
import type { Behaviour, SimulatedCompute } from './compute.ts';
import type { NodeFacts, World } from './world.ts';

interface Place {
  readonly world: World;
  readonly node: NodeFacts | undefined;
  /** The compute that it hits, which is on another host than the controller. */
  readonly compute: SimulatedCompute | undefined;
  readonly lasts: number;
}

const table: { readonly [T in Trouble]: (place: Place) => void } = {
  kill: (place) => end(place, { isPowerCut: false }),
  power_cut: (place) => end(place, { isPowerCut: true }),
  restart: ({ world }) => world.restartController(),
  freeze: ({ world, lasts }) => {
    world.process.stoppedUntil = world.kernel.now + lasts;
  },
  compute_kill: (place) => endCompute(place, { isReboot: false }),
  compute_reboot: (place) => endCompute(place, { isReboot: true }),
  compute_freeze: ({ world, compute, lasts }) => {
    if (compute?.process) compute.process.stoppedUntil = world.kernel.now + lasts;
  },
  cut: (place) => {
    const { world, compute } = place;
    if (!compute) return;
    world.internet.cut(compute.host);
    later(place, () => world.internet.heal(compute.host));
  },
  reset: ({ world, compute }) => {
    if (compute) world.internet.reset(compute.host);
  },
  guest_off: (place) => endMachine(place, 'guest'),
  guest_crash: (place) => endMachine(place, 'failed'),
  refuse: (place) => behave(place, { refuses: true }),
  slow_boot: (place) => behave(place, { bootMs: place.lasts }),
  short_lived: (place) => behave(place, { isShortLived: true }),
};

export function isTrouble(what: Step['what']): what is Trouble {
  return Object.hasOwn(table, what);
}

export function makeTrouble(what: Trouble, place: Place): void {
  place.world.troubled(what);
  table[what](place);
}

/** Everything works again. */
export function endTrouble(world: World): void {
  world.behaviours.clear();
  for (const compute of world.remotes) {
    if (compute.process) compute.process.stoppedUntil = 0;
    else world.startCompute(compute);
    world.internet.heal(compute.host);
  }
  world.process.stoppedUntil = 0;
  if (!world.process.isAlive) world.startController();
}

function later({ world: { kernel }, lasts }: Place, run: () => void): void {
  kernel.after(lasts, run, kernel.world);
}

function end(place: Place, { isPowerCut }: { isPowerCut: boolean }): void {
  const { world } = place;
  if (!world.process.isAlive) return;
  world.killController(isPowerCut);
  later(place, () => {
    if (!world.process.isAlive) world.startController();
  });
}

function endCompute(place: Place, { isReboot }: { isReboot: boolean }): void {
  const { world, compute } = place;
  if (!compute?.process) return;
  if (isReboot) compute.reboot();
  else compute.kill();
  world.internet.closed(compute);
  later(place, () => {
    if (!compute.process) world.startCompute(compute);
  });
}

function endMachine({ world, node }: Place, how: 'guest' | 'failed'): void {
  if (node) for (const compute of [world.local, ...world.remotes]) compute.endMachine(node.id, how);
}

function behave(place: Place, behaviour: Partial<Behaviour>): void {
  const { world, node } = place;
  if (!node) return;
  world.behaviours.set(node.id, { ...world.behaviourOf(node.id), ...behaviour });
  later(place, () => world.behaviours.delete(node.id));
}
