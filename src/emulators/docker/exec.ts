/** Commands inside a running container. */
import { Duplex, Transform, type TransformCallback } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { Gate } from '../../lib/gate.ts';
import type { TerminalSize } from '../driver.ts';
import type { DockerEngine } from './engine.ts';
import { resourcesInside } from './resources.ts';

const busybox = `${resourcesInside}/busybox`;

/** Time limit for the start of a command. */
const startMs = 10_000;
const pollMs = 20;

interface ExecState {
  /** 0 until it has started. */
  readonly Pid: number;
  readonly ExitCode: number | null;
}

/**
 * Commands of one container. It is paused only while none is being started: a process that is frozen while it becomes the command is
 * waited for by the engine (Docker 20.10), which then neither continues the container nor answers for it again.
 */
export class ContainerCommands {
  readonly #engine: DockerEngine;
  readonly #containerId: string;
  readonly #starts = new Gate();
  /** The command of the last shell. */
  #shell: string | undefined;
  #shellSize: TerminalSize | undefined;

  constructor(engine: DockerEngine, containerId: string) {
    this.#engine = engine;
    this.#containerId = containerId;
  }

  /** A shell of its own on a terminal of its own, whether or not the image has one. */
  async openShell(): Promise<Duplex> {
    const { stream, id } = await this.#open({ Cmd: [busybox, 'sh'], Tty: true, Env: ['TERM=vt100'] });
    this.#shell = id;
    if (this.#shellSize) await this.resizeShell(this.#shellSize).catch(() => undefined);
    return stream;
  }

  /** Gives the terminal of the last shell, and of the next ones, this size. */
  async resizeShell(size: TerminalSize): Promise<void> {
    this.#shellSize = size;
    if (this.#shell !== undefined) await this.#engine.post(`/exec/${this.#shell}/resize?w=${size.columns}&h=${size.rows}`);
  }

  /** A connection to a port on which something in the container listens. */
  async openPort(port: number): Promise<Duplex> {
    const { stream } = await this.#open({ Cmd: [busybox, 'nc', '127.0.0.1', String(port)], Tty: false });
    const output = stream.pipe(new Demultiplexer());
    stream.on('error', () => output.destroy());
    return Duplex.from({ writable: stream, readable: output });
  }

  /** Pauses the container while no command is being started. */
  pause(): Promise<void> {
    return this.#starts.hold(async () => {
      await this.#engine.post(`/containers/${this.#containerId}/pause`);
    });
  }

  #open(command: { Cmd: string[]; Tty: boolean; Env?: string[] }): Promise<{ stream: Duplex; id: string }> {
    const streams = { AttachStdin: true, AttachStdout: true, AttachStderr: true };
    return this.#starts.pass(async () => {
      const { Id } = await this.#engine.post<{ Id: string }>(`/containers/${this.#containerId}/exec`, { ...command, ...streams });
      const stream = await this.#engine.attach(`/exec/${Id}/start`, { Detach: false, Tty: command.Tty });
      await this.#started(Id);
      return { stream, id: Id };
    });
  }

  /** Waits for the command's process, whose stream is there earlier. */
  async #started(id: string): Promise<void> {
    const limitMs = performance.now() + startMs;
    const isThere = async () => {
      const state = await this.#engine.find<ExecState>(`/exec/${id}/json`);
      return state === undefined || state.Pid !== 0 || state.ExitCode !== null;
    };
    while (performance.now() < limitMs && !(await isThere().catch(() => true))) await delay(pollMs);
  }
}

const headerBytes = 8;
const standardOutput = 1;

/** Standard output out of a stream without terminal: type, three zeros, length, bytes. @see DockerEngine API, "Attach to a container" */
export class Demultiplexer extends Transform {
  #rest: Buffer = Buffer.alloc(0);

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let bytes: Buffer = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    while (bytes.length >= headerBytes) {
      const end = headerBytes + bytes.readUInt32BE(4);
      if (bytes.length < end) break;
      if (bytes[0] === standardOutput) this.push(bytes.subarray(headerBytes, end));
      bytes = bytes.subarray(end);
    }
    this.#rest = bytes;
    done();
  }
}
