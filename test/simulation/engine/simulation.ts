/** The simulation that is being played: what the stand-ins for modules of Node belong to. */
import type { Decision, Observed } from '../../../src/controller/reconcile/decide.ts';
import type { Disk } from './disk.ts';
import type { Kernel } from './kernel.ts';

/** Answers requests to other hosts. */
export interface Internet {
  request(request: WireRequest): Promise<WireAnswer>;
  openSocket(host: string, path: string, connection: Connection): Wire;
}

/** A connection of the simulated network, from the process that opened it. */
export interface Connection {
  readonly host: string;
  isOpen: boolean;
  /** Called once, when it ends. */
  onEnd: (error: Error | undefined) => void;
  /** Ends it, for the process that opened it; nothing happens when it has ended. */
  readonly end: (error?: Error) => void;
}

export interface WireRequest {
  readonly host: string;
  readonly method: string;
  readonly path: string;
  readonly body: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly connection: Connection;
}

export interface WireAnswer {
  readonly status: number;
  readonly text: string;
}

/** A WebSocket, as its client has it. */
export interface Wire {
  onOpen: () => void;
  onMessage: (text: string) => void;
  onClose: () => void;
  close(): void;
}

export interface Simulation {
  readonly kernel: Kernel;
  readonly disk: Disk;
  readonly internet: Internet;
  /** Called with the arguments and the answer of `decide`. */
  readonly decided: (wanted: object, observed: Observed, decision: Decision) => void;
}

let playing: Simulation | undefined;

export function play(simulation: Simulation | undefined): void {
  playing = simulation;
}

/** @throws while nothing is played */
export function simulation(): Simulation {
  if (!playing) throw new Error('no simulation is being played');
  return playing;
}

export function isPlaying(): boolean {
  return playing !== undefined;
}
