/** The lab of `npm run demo -- --hosts N`: on each host a switch with two PCs, and links of 10 ms between the switches. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { WebSocket } from 'undici';
import { Api } from './api.ts';
import { DemoHosts } from './host-network.ts';
import { Server } from './server.ts';

export interface HostsNode {
  readonly node_id: string;
  readonly name: string;
  readonly compute_id: string;
  readonly status: string;
}

const limitMs = 120_000;
const main = process.env.PATCHBAY_PROGRAM ?? path.join(import.meta.dirname, '../src/main.ts');
export const linkDelayMs = 10;
/** T of the slices' leases. */
export const leaseSeconds = 5;

export class HostsLab {
  readonly hosts: DemoHosts;
  readonly folder: string;
  readonly #password = randomBytes(16).toString('hex');
  /** Ids of their computes. */
  readonly slices: string[] = [];
  nodes: HostsNode[] = [];
  #server: Server | undefined;
  #api: Api | undefined;
  #project = '';
  #console: WebSocket | undefined;
  #output = '';
  readonly links: string[] = [];

  constructor(folder: string, count: number) {
    this.folder = folder;
    this.hosts = new DemoHosts(count);
  }

  get api(): Api {
    if (!this.#api) throw new Error('the server has not been started');
    return this.#api;
  }

  get project(): string {
    return `/projects/${this.#project}`;
  }

  /** Hosts, controller, and a slice on each host; resolves when all have joined. */
  async start(): Promise<void> {
    await this.hosts.build();
    const file = path.join(this.folder, 'demo.conf');
    const server = `[Server]\nauth = True\nuser = demo\npassword = ${this.#password}\nrun_as = root\n`;
    await writeFile(file, `${server}[Cluster]\nlease_seconds = ${leaseSeconds}\n`, { mode: 0o600 });
    const options = ['--host', this.hosts.address, '--config', file];
    this.#server = await Server.start(path.join(this.folder, 'controller'), { port: 0, options });
    this.#api = new Api(this.#server.url, this.#authorization);
    for (let host = 1; host <= this.hosts.count; host++) await this.#startSlice(host, file);
    await until('slices that have joined', async () => {
      const joined = await Promise.all(
        this.slices.map((id) => this.api.get<{ connected: boolean }>(`/computes/${id}`).catch(() => undefined)),
      );
      return joined.every((compute) => compute?.connected);
    });
  }

  async build(): Promise<void> {
    this.#project = (await this.api.post<{ project_id: string }>('/projects', { name: 'hosts' })).project_id;
    const nodes: object[] = [];
    const links: object[] = [];
    for (const [index, compute_id] of this.slices.entries()) {
      const place = { compute_id, y: 100 * index };
      nodes.push({ ref: `SW${index}`, name: `SW${index + 1}`, node_type: 'ethernet_switch', ...place });
      for (const port of [0, 1]) {
        const number = 2 * index + port + 1;
        const properties = { startup_script: `set pcname PC${number}\nip 10.0.0.${number}/24\n` };
        nodes.push({ ref: `PC${number}`, name: `PC${number}`, node_type: 'vpcs', properties, ...place });
        links.push({ nodes: [end(`PC${number}`, 0), end(`SW${index}`, port)] });
      }
      if (index > 0) links.push({ nodes: [end(`SW${index - 1}`, 3), end(`SW${index}`, 2)], filters: { delay: [linkDelayMs] } });
    }
    const made = await this.api.post<{ links: { link_id: string; filters: object }[] }>(`${this.project}/bulk`, { nodes, links });
    this.links.push(...made.links.filter(({ filters }) => 'delay' in filters).map(({ link_id }) => link_id));
    await this.api.post(`${this.project}/nodes/start`);
    await this.refresh();
  }

  async refresh(): Promise<void> {
    this.nodes = await this.api.get<HostsNode[]>(`${this.project}/nodes`);
  }

  /** Shortest of the round trips of a few pings from PC1, ms; undefined: no answer. */
  async ping(to: number): Promise<number | undefined> {
    const socket = await this.#openConsole();
    const before = this.#output.length;
    socket.send(Buffer.from(`ping 10.0.0.${to} -c 4 -w 1000 -i 100\r`));
    const text = () => this.#output.slice(before);
    // A PC that still starts loses what is typed: the caller tries again.
    await until('a ping', async () => /seq=4 |not reachable/.test(text()), 8_000).catch(() => undefined);
    const times = Array.from(text().matchAll(/time=([\d.]+) ms/g), ([, time]) => Number(time));
    return times.length > 0 ? Math.min(...times) : undefined;
  }

  /** Opens the console of PC1, once. */
  async #openConsole(): Promise<WebSocket> {
    if (this.#console?.readyState === WebSocket.OPEN) return this.#console;
    const node = this.nodes.find(({ name }) => name === 'PC1');
    const url = `${this.#server?.url.replace('http', 'ws')}/v2${this.project}/nodes/${node?.node_id}/console/ws`;
    const socket = new WebSocket(url, { headers: { authorization: this.#authorization } });
    this.#console = socket;
    socket.binaryType = 'arraybuffer';
    socket.addEventListener('message', ({ data }) => {
      this.#output += typeof data === 'string' ? data : Buffer.from(data as ArrayBuffer).toString();
    });
    await until('the console of PC1', async () => socket.readyState !== WebSocket.CONNECTING);
    return socket;
  }

  /** Exit code of the controller. */
  async stop(): Promise<number | undefined> {
    this.#console?.close();
    const code = await this.#server?.stop();
    await this.hosts.remove();
    return code;
  }

  get #authorization(): string {
    return `Basic ${Buffer.from(`demo:${this.#password}`).toString('base64')}`;
  }

  async #startSlice(host: number, config: string): Promise<void> {
    const made = await this.api.post<{ token: string; compute_id: string }>('/slices/invitations', { name: `host ${host}` });
    const folder = path.join(this.folder, `host${host}`);
    const joinUrl = this.#server?.url ?? '';
    const line = [process.execPath, main, 'compute', '--join', joinUrl, '--data-dir', folder, '--config', config];
    const [program = '', ...args] = [...this.hosts.launcher(host), ...line];
    const child = spawn(program, args, { stdio: 'ignore', env: { ...process.env, PATCHBAY_JOIN: made.token } });
    child.unref();
    this.slices.push(made.compute_id);
  }
}

function end(ref: string, port_number: number): object {
  return { ref, adapter_number: 0, port_number };
}

export async function until(what: string, isSo: () => Promise<boolean>, atMostMs = limitMs): Promise<void> {
  const begun = performance.now();
  while (!(await isSo())) {
    if (performance.now() - begun > atMostMs) throw new Error(`${what}: not within ${atMostMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
