/** Troubles of a play, by their names in a schedule. */
import type { Process } from '../engine/kernel.ts';
import type { Step, Trouble } from '../schedule.ts';
import type { NodeFacts } from './beliefs.ts';
import type { SimulatedCompute } from './compute.ts';
import type { Behaviour } from './machines.ts';
import type { World } from './world.ts';

interface Place {
  readonly world: World;
  readonly node: NodeFacts | undefined;
  /** The compute that it hits, which is on another host than the controller. */
  readonly compute: SimulatedCompute | undefined;
  readonly lasts: number;
}

/** A move that was cut off has left nothing behind after this time. */
const movingMs = 120_000;

const table: { readonly [T in Trouble]: (place: Place) => void } = {
  kill: (place) => end(place, { isPowerCut: false }),
  power_cut: (place) => end(place, { isPowerCut: true }),
  restart: ({ world }) => world.restartController(),
  freeze: ({ world, lasts }) => {
    stop(world.process, world.kernel.now + lasts);
  },
  compute_kill: (place) => endCompute(place, { isReboot: false }),
  compute_reboot: (place) => endCompute(place, { isReboot: true }),
  compute_freeze: ({ world, compute, lasts }) => {
    if (compute?.process) stop(compute.process, world.kernel.now + lasts);
  },
  slice_end: (place) => {
    const { world, compute } = place;
    if (compute) world.endSlice(compute, () => later(place, () => restart(place)));
  },
  late_events: ({ world, compute, lasts }) => {
    if (compute) world.internet.delayEvents(compute.host, lasts);
  },
  cut: (place) => {
    const { world, compute } = place;
    if (!compute) return;
    world.internet.cut(compute.host);
    // TCP gives up after 11 s.
    world.kernel.after(11_000, () => world.internet.isCut(compute.host) && world.cutMoves(compute.host), world.kernel.world);
    later(place, () => world.internet.heal(compute.host));
  },
  reset: ({ world, compute }) => {
    if (!compute) return;
    world.internet.reset(compute.host);
    world.cutMoves(compute.host);
  },
  guest_off: (place) => endMachine(place, 'guest'),
  guest_crash: (place) => endMachine(place, 'failed'),
  refuse: (place) => behave(place, { refuses: true }),
  slow_boot: (place) => behave(place, { bootMs: place.lasts }),
  other_start: ({ world, node }) => {
    // A node that the controller is moving, or has moved from there, is started by no other program.
    const live = world.controller?.projects.find(node?.projectId ?? '')?.liveNow;
    const known = node && live?.nodes.find(node.id);
    // Other programs do not know the id of a node that is being created.
    if (
      !node ||
      node.isThere.allows(false) ||
      known?.isMoving ||
      world.kernel.now < (node.moved ?? Number.NEGATIVE_INFINITY) + movingMs
    )
      return;
    const at = known?.entry.compute_id;
    for (const compute of [world.local, ...world.remotes])
      if ((at === undefined || at === compute.id) && compute.startByOther(node.id)) return;
  },
  short_lived: (place) => behave(place, { isShortLived: true }),
};

export function isTrouble(what: Step['what']): what is Trouble {
  return Object.hasOwn(table, what);
}

export function makeTrouble(what: Trouble, place: Place): void {
  place.world.troubles.note(what, place.world.kernel.now);
  table[what](place);
}

/** Everything works again, as soon as the last process that is stopped runs on. @returns that time */
export function endTrouble(world: World): number {
  world.behaviours.clear();
  for (const compute of world.remotes) {
    if (!compute.process) world.startCompute(compute);
    world.internet.heal(compute.host);
  }
  if (!world.process.isAlive) world.startController();
  const processes = [world.process, ...world.remotes.map(({ process }) => process)];
  return Math.max(world.kernel.now, ...processes.map((process) => process?.stoppedUntil ?? 0));
}

/** Stops a process; one that is stopped already does not run on earlier. */
function stop(process: Process, until: number): void {
  process.stoppedUntil = Math.max(process.stoppedUntil, until);
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
  world.cutMoves(compute.host);
  if (isReboot) compute.reboot();
  else compute.kill();
  world.internet.closed(compute);
  later(place, () => restart(place));
}

function restart({ world, compute }: Place): void {
  if (compute && !compute.process) world.startCompute(compute);
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
