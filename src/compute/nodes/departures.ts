/**
 * Machines on their way to another compute. One whose streams end before all was sent continues here by itself, as its controller has died;
 * once all was sent, only the controller knows where it runs, and it stays paused, also under the next server.
 */
import { fault } from '../../api/faults.ts';
import type { Departure, MoveStream } from '../../emulators/driver.ts';
import type { MoveOffer } from '../../schema/move.ts';
import type { Context } from '../context.ts';
import { MoveSeals } from './move-seals.ts';
import type { ComputeNode } from './node.ts';

/** Longest time between the offer and the first stream. */
const idleMs = 60_000;

interface Leaving {
  readonly departure: Departure;
  readonly seals: MoveSeals;
  readonly idle: NodeJS.Timeout;
  phase: 'sending' | 'finishing' | 'departed';
  /** Settles when it runs here again. */
  aborting?: Promise<void> | undefined;
}

export class Departures {
  readonly #context: Context;
  readonly #leaving = new Map<string, Leaving>();

  constructor(context: Context) {
    this.#context = context;
  }

  /** @throws node_not_started, move_refused */
  async begin(node: ComputeNode, secret?: string): Promise<MoveOffer> {
    const { emulator, name } = node;
    if (!emulator || node.status !== 'started') throw fault('node_not_started', { name });
    await this.abort(node);
    const answer = emulator.depart ? await emulator.depart() : 'nodes of its type cannot';
    if (typeof answer === 'string') throw fault('move_refused', { name, reason: answer });
    const idle = setTimeout(() => void this.#giveUp(node, 'nothing has asked for its streams'), idleMs).unref();
    this.#leaving.set(node.id, { departure: answer, seals: new MoveSeals('departure', secret), idle, phase: 'sending' });
    void emulator.ended.then(() => this.#forget(node)?.departure.end());
    return answer.offer;
  }

  /** @throws move_refused */
  async stream(node: ComputeNode, name: string): Promise<MoveStream> {
    const leaving = this.#get(node);
    const stream = await leaving.departure.stream(name);
    clearTimeout(leaving.idle);
    const ended = () => {
      if (leaving.phase === 'sending' && this.#leaving.get(node.id) === leaving && !leaving.aborting)
        void this.#giveUp(node, `its stream ${name} has ended`);
    };
    for (const end of new Set([stream.from, stream.into])) end?.once('close', ended);
    return stream;
  }

  /** @throws move_refused */
  seals(node: ComputeNode): MoveSeals {
    return this.#get(node).seals;
  }

  /** @throws move_refused, qemu_failed */
  async mirror(node: ComputeNode): Promise<void> {
    await this.#get(node).departure.mirror();
  }

  /** @throws move_refused, qemu_failed */
  async pause(node: ComputeNode): Promise<void> {
    await this.#get(node).departure.pause();
  }

  /**
   * Completes the departure: from now on the machine runs here only if `abort` says so. @returns milliseconds since it was paused. @throws
   * move_refused, qemu_failed
   */
  async finish(node: ComputeNode): Promise<number> {
    const leaving = this.#get(node);
    leaving.phase = 'finishing';
    try {
      const pausedMs = await leaving.departure.finish();
      const noted = performance.now();
      await node.setDeparted(true);
      if (leaving.aborting) throw fault('move_refused', { name: node.name, reason: 'it was given up' });
      leaving.phase = 'departed';
      return pausedMs + performance.now() - noted;
    } catch (error) {
      await this.abort(node);
      throw error;
    }
  }

  /** Aborts the departure: the machine continues here. Does nothing for a machine that was not to leave. */
  async abort(node: ComputeNode): Promise<void> {
    const leaving = this.#leaving.get(node.id);
    if (!leaving) return node.continueHere();
    leaving.aborting ??= this.#continue(node, leaving);
    await leaving.aborting;
  }

  async #continue(node: ComputeNode, leaving: Leaving): Promise<void> {
    clearTimeout(leaving.idle);
    try {
      await leaving.departure.abort();
      await node.setDeparted(false);
      if (this.#leaving.get(node.id) === leaving) this.#leaving.delete(node.id);
    } catch (error) {
      // The next request tries again.
      leaving.aborting = undefined;
      throw error;
    }
  }

  /** The server ends: those that were not sent continue. Never rejects. */
  async close(): Promise<void> {
    const all = [...this.#leaving.values()];
    this.#leaving.clear();
    await Promise.allSettled(
      all.map(({ departure, phase, idle }) => {
        clearTimeout(idle);
        return phase === 'departed' ? departure.end() : departure.abort();
      }),
    );
  }

  async #giveUp(node: ComputeNode, reason: string): Promise<void> {
    this.#context.log('warning', `${node.name} stays here: ${reason}`);
    await this.abort(node).catch((error: unknown) => this.#context.log('error', `node ${node.name}: ${error}`));
  }

  #get(node: ComputeNode): Leaving {
    const leaving = this.#leaving.get(node.id);
    if (leaving && !leaving.aborting) return leaving;
    throw fault('move_refused', { name: node.name, reason: 'its compute knows nothing of a move: it was given up' });
  }

  #forget(node: ComputeNode): Leaving | undefined {
    const leaving = this.#leaving.get(node.id);
    clearTimeout(leaving?.idle);
    this.#leaving.delete(node.id);
    return leaving;
  }
}
