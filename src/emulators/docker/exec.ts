/** Commands inside a running container. */
import { Duplex, Transform, type TransformCallback } from 'node:stream';
import type { DockerEngine } from './engine.ts';
import { resourcesInside } from './resources.ts';

const busybox = `${resourcesInside}/busybox`;

/** A shell of its own on a terminal of its own, whether or not the image has one. */
export function openShell(engine: DockerEngine, containerId: string): Promise<Duplex> {
  return open(engine, containerId, { Cmd: [busybox, 'sh'], Tty: true, Env: ['TERM=vt100'] });
}

/** A connection to a port on which something in the container listens. */
export async function openPort(engine: DockerEngine, containerId: string, port: number): Promise<Duplex> {
  const stream = await open(engine, containerId, { Cmd: [busybox, 'nc', '127.0.0.1', String(port)], Tty: false });
  const output = stream.pipe(new Demultiplexer());
  stream.on('error', () => output.destroy());
  return Duplex.from({ writable: stream, readable: output });
}

async function open(
  engine: DockerEngine,
  containerId: string,
  command: { Cmd: string[]; Tty: boolean; Env?: string[] },
): Promise<Duplex> {
  const streams = { AttachStdin: true, AttachStdout: true, AttachStderr: true };
  const { Id } = await engine.post<{ Id: string }>(`/containers/${containerId}/exec`, { ...command, ...streams });
  return engine.attach(`/exec/${Id}/start`, { Detach: false, Tty: command.Tty });
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
