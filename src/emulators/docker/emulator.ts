/**
 * A running container. The engine owns its process, so it outlives the server by itself; adapters are socats of ours. Its end is
 * noticed by a request that the engine answers when it comes.
 */
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PortSpec } from '../../fabric/protocol.ts';
import type { Child } from '../../process/child.ts';
import { processFacts } from '../../process/proc.ts';
import type { ConsoleSource, Emulator, Ending, NodeView, ScreenSource, TerminalSize } from '../driver.ts';
import type { Host } from '../host/host.ts';
import { ConfigWatch } from '../ios-nvram/config-watch.ts';
import type { PortProcesses } from '../port-processes/port-processes.ts';
import { type AdapterFacts, setCarrier } from './adapters.ts';
import type { ContainerState, DockerEngine } from './engine.ts';
import { ContainerCommands } from './exec.ts';
import { iolNumberOf } from './iol.ts';
import { asDocker } from './properties.ts';
import { pictureSocket, screenLog } from './screen.ts';

/** Seconds between the stop signal and the end by force. */
const stopGraceSeconds = 5;
const engineRetryMs = 1000;
const screenGraceMs = 1000;

interface DockerParts {
  readonly host: Host;
  readonly engine: DockerEngine;
  readonly node: NodeView;
  readonly containerId: string;
  /** The container's first process, as this host sees it. */
  readonly pid: number;
  readonly adapters: PortProcesses<AdapterFacts>;
  /** The X server of a node whose console is a screen. */
  readonly screen: Child | undefined;
  /** False for one that version 0.1 started: it serves the picture at the console's TCP port. */
  readonly hasScreenSocket: boolean;
  /** Port of the auxiliary console. */
  readonly aux: number | undefined;
  /** Releases the port of the auxiliary console. */
  readonly releaseAux: () => void;
}

export class DockerEmulator implements Emulator {
  readonly ended: Promise<Ending>;
  readonly commandLine: string;
  state: 'started' | 'suspended';
  readonly #parts: DockerParts;
  readonly #bridges: Bridge[] = [];
  readonly #commands: ContainerCommands;
  readonly #startTime: number;
  /** Configuration watch of an IOL image. */
  readonly #configs: ConfigWatch | undefined;
  #isAsked = false;
  readonly #released = new AbortController();

  private constructor(parts: DockerParts, state: ContainerState) {
    this.#parts = parts;
    this.#commands = new ContainerCommands(parts.engine, parts.containerId);
    this.state = state.State.Paused ? 'suspended' : 'started';
    const iol = iolNumberOf(state);
    this.#configs = iol === undefined ? undefined : new ConfigWatch(parts.node, { id: iol });
    this.#startTime = processFacts(parts.pid)?.startTime ?? 0;
    this.commandLine = `docker start ${parts.containerId.slice(0, 12)}`;
    this.ended = this.#watch();
    void parts.screen?.outcome.then(({ how, tail }) => {
      // The container keeps running: it may do more than show something.
      if (how === 'exited' || how === 'lost') parts.node.warn(screenHasEnded(parts.node.name, tail));
    });
  }

  /** Makes the emulator of a container that runs, with its adapters. */
  static async of(parts: DockerParts, state: ContainerState): Promise<DockerEmulator> {
    const emulator = new DockerEmulator(parts, state);
    await emulator.#openBridges();
    return emulator;
  }

  get record(): Readonly<Record<string, unknown>> {
    const { containerId, pid, adapters, aux, screen, hasScreenSocket, node } = this.#parts;
    const startTime = this.#startTime;
    return {
      container_id: containerId,
      pid,
      startTime,
      ...(aux !== undefined && { aux }),
      ...(screen && { screen: { pid: screen.pid, startTime: screen.startTime, logFile: join(node.directory, screenLog) } }),
      ...(hasScreenSocket && { hasScreenSocket }),
      ports: adapters.kept(),
    };
  }

  /** Never calls back: only a request to suspend a container changes its state. */
  onState(): void {}

  onRecord(listener: () => void): void {
    this.#parts.adapters.onChange(listener);
  }

  async suspend(): Promise<void> {
    await this.#commands.pause();
    this.state = 'suspended';
  }

  async resume(): Promise<void> {
    await this.#request('unpause');
    this.state = 'started';
  }

  /** Never resets in place, because the container's network would be another one: the container is stopped and started. */
  reset(): Promise<boolean> {
    return Promise.resolve(false);
  }

  async stop({ now = false }: { now?: boolean } = {}): Promise<void> {
    this.#isAsked = true;
    if (this.state === 'suspended') await this.resume().catch(() => undefined);
    await this.#request(`stop?t=${now ? 0 : stopGraceSeconds}`).catch((error) => {
      // The container has ended or was removed: `ended` resolves then.
      if (!/No such container|is not running/i.test(String(error))) throw error;
    });
    await (this.#released.signal.aborted ? this.#tidy() : this.ended);
  }

  port(adapter: number): PortSpec | undefined {
    return this.#parts.adapters.spec(adapter);
  }

  async setCarrier(adapter: number, up: boolean): Promise<void> {
    const facts = this.#parts.adapters.find(adapter);
    if (facts) await setCarrier(this.#parts.host, facts, up);
  }

  console(): ConsoleSource | ScreenSource | undefined {
    const { node, hasScreenSocket } = this.#parts;
    const { type } = node.console;
    if (type === 'vnc') return hasScreenSocket ? { type: 'screen', path: pictureSocket(node) } : undefined;
    if (isPage(type)) return { type: 'screen', path: this.#place('page.sock') };
    const resize = ({ columns, rows }: TerminalSize) => this.#request(`resize?w=${columns}&h=${rows}`);
    return { type: 'unix', path: this.#place('console.sock'), resize };
  }

  auxiliary(): { source: ConsoleSource; port: number } | undefined {
    const { aux } = this.#parts;
    if (aux === undefined) return undefined;
    const resize = (size: TerminalSize) => this.#commands.resizeShell(size);
    return { source: { type: 'unix', path: this.#place('aux.sock'), resize }, port: aux };
  }

  /** Changes nothing now: the container gets the properties when it is made, at the next start. */
  async changed(): Promise<void> {}

  release(): void {
    this.#released.abort();
    this.#configs?.stop();
    this.#parts.adapters.release();
    this.#parts.screen?.release();
    for (const bridge of this.#bridges.splice(0)) void bridge.close();
  }

  #place(name: string): string {
    return join(this.#parts.node.runtimeDirectory, name);
  }

  async #request(verb: string): Promise<void> {
    await this.#parts.engine.post(`/containers/${this.#parts.containerId}/${verb}`);
  }

  async #openBridges(): Promise<void> {
    const { engine, containerId, node } = this.#parts;
    const streams = 'stream=1&stdin=1&stdout=1&stderr=1&logs=1';
    const terminal = () => engine.attach(`/containers/${containerId}/attach?${streams}`);
    this.#bridges.push(await Bridge.listen({ path: this.#place('console.sock') }, terminal));
    this.#bridges.push(await Bridge.listen({ path: this.#place('aux.sock') }, () => this.#commands.openShell()));
    if (!isPage(node.console.type)) return;
    const inside = asDocker(node.properties).console_http_port;
    this.#bridges.push(await Bridge.listen({ path: this.#place('page.sock') }, () => this.#commands.openPort(inside)));
  }

  async #watch(): Promise<Ending> {
    const { engine, containerId } = this.#parts;
    const code = await this.#exitCode();
    if (this.#released.signal.aborted && !this.#isAsked) return new Promise(() => {});
    await this.#tidy();
    if (this.#isAsked) return { how: 'stopped', reason: 'it was stopped' };
    const words = await lastWords(engine, containerId);
    const signal = code !== undefined && code > 128 ? ` (${signalName(code - 128)})` : '';
    const reason = `the container ended with exit code ${code ?? 'unknown'}${signal}${words}`;
    return { how: code === 0 ? 'exited' : 'failed', reason };
  }

  /** Undefined when the container was removed, or when this is no longer ours to know. */
  async #exitCode(): Promise<number | undefined> {
    const { engine, containerId } = this.#parts;
    const { signal } = this.#released;
    while (!signal.aborted) {
      const waiting = engine.post<{ StatusCode: number }>(
        `/containers/${containerId}/wait?condition=not-running`,
        undefined,
        signal,
      );
      const answer = await waiting.catch((error: Error) => error);
      if (!(answer instanceof Error)) return answer.StatusCode;
      if (/No such container/i.test(answer.message)) return undefined;
      // The engine itself was started anew, perhaps: its containers may keep running.
      await sleep(engineRetryMs, undefined, { ref: false, signal }).catch(() => undefined);
    }
    return undefined;
  }

  async #tidy(): Promise<void> {
    const { adapters, screen, releaseAux } = this.#parts;
    await Promise.all([adapters.detachAll(), screen?.stop({ graceMs: screenGraceMs }), this.#configs?.finish()]);
    await Promise.all(this.#bridges.splice(0).map((bridge) => bridge.close()));
    releaseAux();
  }
}

const isPage = (type: string) => /^https?$/.test(type);

export function screenHasEnded(name: string, words = ''): string {
  return `The screen of ${name} has ended: stop and start the node to have it again${words && `. It said: ${words}`}`;
}

const signals: Readonly<Record<number, string>> = { 6: 'SIGABRT', 9: 'SIGKILL', 11: 'SIGSEGV', 15: 'SIGTERM' };
function signalName(number: number): string {
  return signals[number] ?? `signal ${number}`;
}

/** Reads the last lines that the container printed on its terminal. */
export async function lastWords(engine: DockerEngine, containerId: string): Promise<string> {
  const text = await engine.text(`/containers/${containerId}/logs?stdout=1&stderr=1&tail=20`).catch(() => '');
  return text.trim() === '' ? '' : `: ${text.trim().slice(-2000)}`;
}

/** Makes streams of the engine reachable the way consoles of other emulators are: on a socket of this host. */
class Bridge {
  readonly #server: Server;
  readonly #clients = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
  }

  /** `open` is called for each client; one whose stream cannot be opened is hung up on. */
  static async listen({ path }: { readonly path: string }, open: () => Promise<Duplex>): Promise<Bridge> {
    const bridge = new Bridge(createServer((client) => bridge.#serve(client, open)));
    await rm(path, { force: true });
    bridge.#server.listen(path);
    await once(bridge.#server, 'listening');
    return bridge;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const client of this.#clients) client.destroy();
    await closed;
  }

  #serve(client: Socket, open: () => Promise<Duplex>): void {
    this.#clients.add(client);
    // Input that comes before the stream is there waits in the socket.
    client.pause();
    client.on('error', () => undefined);
    client.on('close', () => this.#clients.delete(client));
    open().then(
      (stream) => {
        stream.on('error', () => undefined);
        // The last data of the stream may still wait for the client.
        stream.on('close', () => client.destroySoon());
        client.on('close', () => stream.destroy());
        stream.pipe(client);
        client.pipe(stream);
        if (client.destroyed) stream.destroy();
      },
      () => client.destroy(),
    );
  }
}
