/**
 * Whether frames of links that the kernel carries arrive. The trial at the start (`self-test.ts`) shows that the kernel can redirect; a rule
 * at one interface, of a firewall or of another program, can still take the frames of one link. A frame of our own would be seen by
 * containers, so the kernel's counters are compared: what the action of an end has redirected, the other end has sent.
 *
 * One reading serves all links that are not proven. It is repeated a few times after a link was taken, ever more rarely, so links
 * without frames cost nothing; a link is proven when frames have passed in both directions. A TAP interface counts a frame when its machine
 * reads it: as many as its queue holds may wait for a machine that is paused, or has no processor.
 */
import type { InterfacePlace, SentFrames } from '../ports/interface-place.ts';
import type { KernelCounters, KernelCounts } from './kernel-counters.ts';

/** Times of the readings since the last link was taken, ms. */
const roundsAtMs: readonly number[] = [250, 1000, 4000, 15_000, 60_000, 240_000];

/** A link that is to be proven. Each end has an action, for what comes in there, and leaves at the other end. */
export interface UnprovenPath {
  readonly ends: readonly [string, string];
  readonly actions: readonly [number, number];
  /** Frames are redirected and not sent: it must not stay with the kernel. */
  readonly failed: (reason: string) => void;
}

interface PathProgress {
  readonly path: UnprovenPath;
  /** Unproven directions, by the end at which their frames come in: figures of the last reading, `sent` read before `redirected`. */
  readonly open: Map<0 | 1, { redirected: number; sent: number; carrier: CarrierState } | undefined>;
}

interface CarrierState {
  readonly isUp: boolean;
  /** Number of changes since the interface was made. */
  readonly changes: number;
}

export class PathProofs {
  readonly #counters: KernelCounters;
  readonly #place: InterfacePlace;
  readonly #unproven = new Map<UnprovenPath, PathProgress>();
  #timer: NodeJS.Timeout | undefined;
  #round = 0;

  constructor(counters: KernelCounters, place: InterfacePlace) {
    this.#counters = counters;
    this.#place = place;
  }

  begin(path: UnprovenPath): void {
    const open = new Map<0 | 1, undefined>([
      [0, undefined],
      [1, undefined],
    ]);
    this.#unproven.set(path, { path, open });
    this.#round = 0;
    this.#schedule(0);
  }

  end(path: UnprovenPath): void {
    this.#unproven.delete(path);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#unproven.clear();
  }

  #schedule(delayMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#look(), delayMs).unref();
  }

  async #look(): Promise<void> {
    const round = this.#round;
    // Sent frames before and after, so that those of `redirected` since the last time are among them.
    const before = await readSent(this.#place);
    const redirected: KernelCounts = await this.#counters.readNow().catch(() => new Map());
    const after = await readSent(this.#place);
    for (const progress of [...this.#unproven.values()]) await this.#judge(progress, { before, redirected, after });
    // Another link may have been taken meanwhile.
    if (this.#unproven.size === 0 || round !== this.#round) return;
    const delayMs = (roundsAtMs[round] ?? 0) - (roundsAtMs[round - 1] ?? 0);
    this.#round += 1;
    if (round < roundsAtMs.length) this.#schedule(delayMs);
  }

  async #judge({ path, open }: PathProgress, figures: PathFigures): Promise<void> {
    for (const [side, last] of open) {
      const to = path.ends[side === 0 ? 1 : 0];
      const redirected = figures.redirected.get(path.actions[side])?.frames;
      const [before, after] = [figures.before.get(to), figures.after.get(to)];
      // A figure that could not be read proves nothing.
      if (redirected === undefined || before === undefined || after === undefined) continue;
      const now = { redirected, sent: before };
      if (last === undefined) open.set(side, { ...now, carrier: readCarrier(this.#place, to) });
      else if (redirected <= last.redirected) open.set(side, { ...now, carrier: last.carrier });
      else if (after > last.sent) open.delete(side);
      else if (redirected - last.redirected > this.#queueLength(to)) {
        // An end without a carrier drops frames before it counts them.
        const carrier = readCarrier(this.#place, to);
        const wasUp = carrier.isUp && carrier.changes === last.carrier.changes;
        if (wasUp) return this.#fail(path, { to, frames: redirected - last.redirected });
        open.set(side, { ...now, carrier });
      }
    }
    if (open.size === 0) this.#unproven.delete(path);
  }

  /** Frames that the interface may hold without having counted them. */
  #queueLength(name: string): number {
    return this.#place.readFigure(name, 'tun_flags') === undefined ? 0 : (this.#place.readFigure(name, 'tx_queue_len') ?? 0);
  }

  #fail(path: UnprovenPath, { to, frames }: { to: string; frames: number }): void {
    if (this.#unproven.delete(path))
      path.failed(`the kernel redirected ${frames} frames to ${to}, which sent none of them: another rule takes them there`);
  }
}

interface PathFigures {
  /** Sent and dropped frames by interface name, before and after `redirected` was read. */
  readonly before: ReadonlyMap<string, number>;
  readonly after: ReadonlyMap<string, number>;
  readonly redirected: KernelCounts;
}

/** Frames that each interface sent or dropped; of an interface that is not there, nothing shows anything. */
async function readSent(place: InterfacePlace): Promise<Map<string, number>> {
  const counted = await place.readSent().catch(() => new Map<string, SentFrames>());
  return new Map([...counted].map(([name, { sent, dropped }]) => [name, sent + dropped]));
}

function readCarrier(place: InterfacePlace, name: string): CarrierState {
  return { isUp: place.readFigure(name, 'carrier') === 1, changes: place.readFigure(name, 'carrier_changes') ?? 0 };
}
