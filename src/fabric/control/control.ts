/**
 * The fabric's control socket: JSON lines over a Unix socket (`protocol.ts`, `requests.ts`). A line that is not understood is answered with an error; nothing a
 * client says or does, going away included, ends the fabric or stops a frame, except `quit`.
 */
import { link, rename, stat, unlink } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { LineSplitter } from '../../lib/line-splitter.ts';
import type { Pcs } from '../pcs/pcs.ts';
import { consoleLine, type PcLine, protocolVersion, type ReplyLine } from '../protocol.ts';
import { type Request, request } from '../requests.ts';
import { checkShape } from './check-shape.ts';
import { type Fabric, messageOf } from './fabric.ts';

/** Interval at which the fabric checks that the socket's path is still its own. */
const lookMs = 2000;
/** Entries of a list that are written before frames get their turn. */
const entriesPerTurn = 32;

const consoleWord = Buffer.from(consoleLine('').trimEnd().concat(' '));
const longestConsoleLine = 256;

export class Control {
  readonly #path: string;
  readonly #fabric: Fabric;
  /** Asked to end: the answer has been sent. */
  readonly #onQuit: () => void;
  /** Another fabric has the socket's path now, or it is gone and no client is connected: this fabric cannot be reached any more. */
  readonly #onOrphaned: () => void;
  readonly #server: Server;
  readonly #clients = new Set<Socket>();
  #inode = 0;
  #watch: NodeJS.Timeout | undefined;
  /** Requests of all clients are carried out one after the other. */
  #tail: Promise<void> = Promise.resolve();

  private constructor(path: string, fabric: Fabric, onQuit: () => void, onOrphaned: () => void) {
    this.#path = path;
    this.#fabric = fabric;
    this.#onQuit = onQuit;
    this.#onOrphaned = onOrphaned;
    this.#server = createServer((client) => this.#serve(client));
  }

  /**
   * Listens at `path`; undefined when another fabric answers there. The socket is made beside the path and moved to it, so a path that
   * exists always has a listener, unless its process died.
   */
  static async listen(path: string, fabric: Fabric, onQuit: () => void, onOrphaned: () => void): Promise<Control | undefined> {
    if (await answers(path)) return undefined;
    const control = new Control(path, fabric, onQuit, onOrphaned);
    const beside = `${path}.${process.pid}`;
    await new Promise<void>((settle, refuse) => {
      control.#server.once('error', refuse);
      control.#server.listen(beside, settle);
    });
    control.#server.on('error', (error) => console.error('control:', error));
    if (!(await claim(beside, path))) {
      control.#server.close();
      return undefined;
    }
    control.#inode = await inodeOf(path);
    control.#watch = setInterval(() => void control.#look(), lookMs);
    return control;
  }

  async close(): Promise<void> {
    clearInterval(this.#watch);
    this.#server.close();
    if ((await inodeOf(this.#path)) === this.#inode) await unlink(this.#path).catch(() => undefined);
    for (const client of this.#clients) client.destroy();
  }

  async #look(): Promise<void> {
    const inode = await inodeOf(this.#path);
    const isReplaced = inode !== this.#inode && inode !== nothing;
    if (isReplaced || (inode === nothing && this.#clients.size === 0)) this.#onOrphaned();
  }

  #serve(client: Socket): void {
    this.#clients.add(client);
    client.on('error', () => undefined);
    client.on('close', () => this.#clients.delete(client));
    const first: Buffer[] = [];
    client.on('data', function begin(this: Socket, chunk: Buffer) {
      first.push(chunk);
      const bytes = Buffer.concat(first);
      const isConsole = bytes.subarray(0, consoleWord.length).equals(consoleWord.subarray(0, bytes.length));
      const end = bytes.indexOf('\n');
      if (isConsole && end < 0 && bytes.length < longestConsoleLine) return;
      client.off('data', begin);
      if (isConsole) watch(bytes.toString('utf8', consoleWord.length, end), bytes.subarray(end + 1));
      else serveRequests(bytes);
    });
    const watch = (pc: string, typed: Buffer) => {
      this.#clients.delete(client);
      this.#fabric.pcs.watch(pc, client, typed);
    };
    const serveRequests = (received: Buffer) => {
      const splitter = new LineSplitter((line) => this.#enqueue(client, line));
      const read = (chunk: Buffer) => {
        if (!splitter.add(chunk)) client.destroy();
      };
      client.on('data', read);
      read(received);
    };
  }

  #enqueue(client: Socket, line: string): void {
    this.#tail = this.#tail.then(async () => {
      const asked = read(line);
      const answered = this.#answer(client, asked).then(async (reply) => {
        const text = await textOf(reply);
        if (client.writable) client.write(`${text}\n`);
        if ('result' in reply && reply.result === quitting) client.end(() => this.#onQuit());
      });
      // Takes as long as the PC waits for answers.
      if (!('request' in asked && asked.request.op === 'probe_pc')) await answered;
    });
  }

  async #answer(client: Socket, asked: Asked): Promise<ReplyLine> {
    const { id } = asked;
    if (!('request' in asked)) return asked;
    try {
      if (asked.request.op === 'watch_pcs') this.#report(client);
      return { id, result: await this.#carryOut(asked.request) };
    } catch (error) {
      return { id, error: messageOf(error) };
    }
  }

  /** Sends the client a line for each change of a PC. */
  #report(client: Socket): void {
    const end = this.#fabric.pcs.reports.subscribe((pc) => {
      if (client.writable) client.write(`${JSON.stringify({ pc } satisfies PcLine)}\n`);
    });
    client.once('close', end);
  }

  async #carryOut(asked: Request): Promise<unknown> {
    switch (asked.op) {
      case 'hello':
        return { version: protocolVersion, pid: process.pid };
      case 'apply':
        return this.#fabric.apply(asked.links);
      case 'sync':
        return this.#fabric.sync(asked.links);
      case 'remove':
        await this.#fabric.remove(asked.ids);
        return null;
      case 'stats':
        return this.#fabric.stats(asked.ids);
      case 'load':
        return this.#fabric.load();
      case 'capabilities':
        return this.#fabric.capabilities();
      case 'use_namespace':
        return this.#fabric.useNamespace(asked.holder);
      case 'switch_stats':
        return this.#fabric.switches.stats(asked.ids);
      case 'addresses':
        return this.#fabric.switches.addresses(asked.switch);
      case 'forget_addresses':
        this.#fabric.switches.forgetAddresses(asked.switch);
        return null;
      case 'learn_addresses':
        this.#fabric.switches.learnAddresses(asked.switch, asked.addresses);
        return null;
      case 'hold':
        await this.#fabric.hold(asked.ids, asked.leaseMs, asked.pcs);
        return null;
      case 'release':
        this.#fabric.release(asked.ids, asked.pcs);
        return null;
      case 'unconnected':
        return this.#fabric.unconnected(asked.ids);
      case 'save_frames':
        return this.#fabric.directions.save(asked.path, asked.directions);
      case 'load_frames':
        return this.#fabric.directions.load(asked.path, asked.directions);
      case 'filter_states':
        return this.#fabric.directions.filterStates(asked.directions);
      case 'continue_filters':
        this.#fabric.directions.continueFilters(asked.directions, asked.states);
        return null;
      case 'quit':
        return quitting;
      default:
        return this.#measure(asked);
    }
  }

  /** Carries out requests about traffic, traces and PCs. */
  async #measure(asked: MeasureRequest): Promise<unknown> {
    const { traffic, traces, pcs } = this.#fabric;
    switch (asked.op) {
      case 'traffic_start':
        return traffic.start(asked.flow);
      case 'traffic_read':
        return traffic.read(asked.traffic);
      case 'traffic_remove':
        traffic.remove(asked.traffic);
        return null;
      case 'trace_start':
        return traces.start(asked.trace);
      case 'trace_read':
        return traces.read(asked.trace);
      case 'trace_end':
        return traces.end(asked.trace);
      default:
        return carryOutPcs(pcs, asked);
    }
  }
}

type Asked = { readonly id: number; readonly request: Request } | { readonly id: number; readonly error: string };

function read(line: string): Asked {
  let id = 0;
  try {
    const { id: given, ...rest } = (JSON.parse(line) ?? {}) as { id?: unknown };
    if (Number.isInteger(given)) id = Number(given);
    return { id, request: checkShape(request, rest, 'request') };
  } catch (error) {
    return { id, error: messageOf(error) };
  }
}

type MeasureRequest = PcRequest | Extract<Request, { op: `traffic_${string}` | `trace_${string}` }>;
type PcRequest = Extract<Request, { op: `${string}_pcs` | 'pc_states' | 'probe_pc' | 'end_probe' }>;

async function carryOutPcs(pcs: Pcs, asked: PcRequest): Promise<unknown> {
  switch (asked.op) {
    case 'apply_pcs':
      return pcs.apply(asked.pcs);
    case 'remove_pcs':
      pcs.remove(asked.ids);
      return null;
    case 'retain_pcs':
      pcs.retain(asked.ids);
      return null;
    case 'watch_pcs':
      return pcs.list();
    case 'pc_states':
      return pcs.states(asked.ids);
    case 'probe_pc':
      return pcs.find(asked.pc)?.probe(asked.probe, asked.key) ?? null;
    case 'end_probe':
      pcs.find(asked.pc)?.endProbe(asked.key);
      return null;
  }
}

/** Serialises a reply as JSON. A long list is written in pieces, and frames have their turn between them. */
async function textOf(reply: ReplyLine): Promise<string> {
  if (!('result' in reply) || !Array.isArray(reply.result)) return JSON.stringify(reply);
  const pieces: string[] = [];
  for (let from = 0; from < reply.result.length; from += entriesPerTurn) {
    if (from > 0) await turn();
    pieces.push(JSON.stringify(reply.result.slice(from, from + entriesPerTurn)).slice(1, -1));
  }
  return `{"id":${reply.id},"result":[${pieces.join(',')}]}`;
}

/** The result of `quit`, which is `null` on the wire. */
const quitting = Object.freeze({ toJSON: () => null });

function answers(path: string): Promise<boolean> {
  return new Promise((settle) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      settle(true);
    });
    socket.once('error', () => settle(false));
  });
}

/** Moves the socket to its path; false when another living fabric was quicker. */
async function claim(beside: string, path: string): Promise<boolean> {
  try {
    await link(beside, path);
    await unlink(beside);
    return true;
  } catch {
    if (await answers(path)) return false;
    await rename(beside, path);
    return true;
  }
}

/** Stands for the inode of what is not there. */
const nothing = -1;

async function inodeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ ino }) => ino,
    () => nothing,
  );
}
