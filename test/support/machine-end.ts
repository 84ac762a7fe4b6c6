/** A stand-in for a machine: a QEMU without a guest that passes frames between a stream of the test and TAP interfaces made as the compute makes them. Root only. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { LinkNamespace } from '../../src/emulators/host/link-namespace.ts';
import { makeMachineTaps, removeMachineTaps, type TapPort } from '../../src/emulators/port-processes/machine-taps.ts';
import { runTool } from '../../src/process/tool.ts';
import { StreamEnd } from './frame-ends.ts';

/** The programs of the link namespace, on the host. */
const batchOf = (program: string) => ({
  run: (commands: readonly string[]) =>
    runTool(program, ['-batch', '-'], { timeoutMs: 5000, input: commands.map((line) => `${line}\n`).join('') }),
});
const links = { ip: batchOf('ip'), tc: batchOf('tc') } as unknown as LinkNamespace;

export class MachineEnd {
  /** The fabric's end. */
  readonly port: TapPort;
  /** Frames that the machine sends and receives. */
  readonly frames: StreamEnd;
  readonly #process: ChildProcess;

  private constructor(port: TapPort, frames: StreamEnd, child: ChildProcess) {
    this.port = port;
    this.frames = frames;
    this.#process = child;
  }

  /** `socket`: path of the stream, which is made. */
  static async make(socket: string): Promise<MachineEnd> {
    const frames = await StreamEnd.listen(socket);
    const [made] = await makeMachineTaps(links, { count: 1, uid: 0, kernelPath: true });
    if (made?.hostEnd === undefined) throw new Error('no interfaces');
    // The host's own IPv6 would send frames.
    for (const name of [made.name, made.hostEnd])
      await writeFile(`/proc/sys/net/ipv6/conf/${name}/disable_ipv6`, '1').catch(() => undefined);
    const hub = (id: string) => ['-netdev', `hubport,id=hub-${id},hubid=0,netdev=${id}`];
    const tap = ['-netdev', `tap,id=tap,ifname=${made.hostEnd},script=no,downscript=no`, ...hub('tap')];
    const stream = ['-netdev', `stream,id=test,addr.type=unix,addr.path=${socket}`, ...hub('test')];
    const child = spawn('qemu-system-x86_64', ['-M', 'none', '-nodefaults', '-display', 'none', ...tap, ...stream], {
      stdio: 'ignore',
    });
    return new MachineEnd({ ...made, inLinkNamespace: false }, frames, child);
  }

  async remove(): Promise<void> {
    const ended = once(this.#process, 'exit');
    if (this.#process.kill('SIGKILL')) await ended;
    await this.frames.close();
    await removeMachineTaps(links, [this.port]);
  }
}
