/** What the demo does and measures, one function per row of the table. Limits are wide: an emulated processor on a busy machine is slow. */
import { Api } from './api.ts';
import { Console } from './console.ts';
import type { Guest } from './guest/guest.ts';
import { ping, pingFromVpcs, readPing } from './ping.ts';
import { Server } from './server.ts';
import type { Row } from './table.ts';
import { addresses, buildTopology, type Link, type Node, type Topology } from './topology.ts';

const bootLimitMs = 120_000;
const latencyMs = 25;
/** How much more than twice the latency a round trip may gain before the row is bad: the emulated guests add some. */
const latencyToleranceMs = 15;
const dropEvery = 4;
const manyPings = { count: 20, intervalMs: 100 };
/** How long the ping runs without a server. */
const downMs = 1500;

type Outcome = Omit<Row, 'step'>;

export class Steps {
  readonly dataDirectory: string;
  readonly guest: Guest;
  server: Server | undefined;
  #api: Api | undefined;
  #topology: Topology | undefined;
  #consoles: { vm1: Console; vm2: Console; pc: Console } | undefined;
  #plainMs = 0;

  constructor(dataDirectory: string, guest: Guest) {
    this.dataDirectory = dataDirectory;
    this.guest = guest;
  }

  /** In order. Each relies on those before it. */
  list(): [name: string, run: () => Promise<Outcome>][] {
    return [
      ['start a server', () => this.#start()],
      ['make project, nodes, links', () => this.#build()],
      ['boot two VMs and a VPCS', () => this.#boot()],
      ['ping VM1 to VM2', () => this.#ping()],
      ['ping PC1 to VM1 through VM2', () => this.#route()],
      [`latency ${latencyMs} ms`, () => this.#latency()],
      [`frequency_drop ${dropEvery}`, () => this.#drop()],
      ['suspend the link', () => this.#suspend(true)],
      ['resume the link', () => this.#suspend(false)],
      ['kill -9 of the server under a ping', () => this.#kill()],
      ['nodes after the restart', () => this.#adopted()],
      ['duplicate the running project', () => this.#duplicate()],
    ];
  }

  get url(): string {
    return this.#known.server.url;
  }

  get topology(): Topology {
    return this.#known.topology;
  }

  closeConsoles(): void {
    for (const console of Object.values(this.#consoles ?? {})) console.close();
    this.#consoles = undefined;
  }

  async #start(): Promise<Outcome> {
    const began = performance.now();
    this.server = await Server.start(this.dataDirectory);
    this.#api = new Api(this.server.url);
    const { version } = await this.#api.get<{ version: string }>('/version');
    const ms = performance.now() - began;
    return { expected: 'it answers', measured: `after ${seconds(ms)}`, good: true, figures: { ms: round(ms), version } };
  }

  async #build(): Promise<Outcome> {
    const began = performance.now();
    this.#topology = await buildTopology(this.#known.api, this.guest);
    const ms = performance.now() - began;
    return { expected: '3 nodes, 2 links', measured: `in ${Math.round(ms)} ms`, good: true, figures: { ms: round(ms) } };
  }

  async #boot(): Promise<Outcome> {
    const { api, topology } = this.#known;
    const began = performance.now();
    await api.post(`${topology.path}/nodes/start`);
    const [vm1, vm2, pc] = await Promise.all([
      Console.open(topology.vm1.console),
      Console.open(topology.vm2.console),
      Console.open(topology.pc.console),
    ]);
    this.#consoles = { vm1, vm2, pc };
    pc.send('\r\n');
    await Promise.all([
      ...[vm1, vm2].map((console) => console.expect(/GUEST READY.*# $/s, bootLimitMs)),
      pc.expect(/> $/, bootLimitMs),
    ]);
    const ms = performance.now() - began;
    return { expected: 'three prompts', measured: `after ${seconds(ms)}`, good: true, figures: { ms: round(ms) } };
  }

  async #ping(): Promise<Outcome> {
    const { vm1 } = this.#known.consoles;
    await ping(vm1, addresses.vm2, { count: 2, intervalMs: 200 });
    const { lossPercent, medianMs = Number.NaN } = await ping(vm1, addresses.vm2, manyPings);
    this.#plainMs = medianMs;
    return {
      expected: 'none lost',
      measured: `${lossPercent} % lost, ${ms(medianMs)}`,
      good: lossPercent === 0,
      figures: { lossPercent, medianMs },
    };
  }

  async #route(): Promise<Outcome> {
    const { vm1, vm2, pc } = this.#known.consoles;
    await vm2.run('echo 1 > /proc/sys/net/ipv4/ip_forward');
    await vm1.run(`ip route add ${addresses.pc}/32 via ${addresses.vm2}`);
    pc.send(`ip ${addresses.pc}/24 ${addresses.vm2ToPc}\r\n`);
    await pc.expect(/(?:PC1|VPCS) : .*> $/s, 20_000);
    await pingFromVpcs(pc, addresses.vm1, 1);
    const { lossPercent, medianMs = Number.NaN } = await pingFromVpcs(pc, addresses.vm1, 3);
    return {
      expected: 'none lost',
      measured: `${lossPercent} % lost, ${ms(medianMs)}`,
      good: lossPercent === 0,
      figures: { lossPercent, medianMs },
    };
  }

  async #latency(): Promise<Outcome> {
    await this.#change({ filters: { latency: [latencyMs] } });
    const { lossPercent, medianMs = Number.NaN } = await ping(this.#known.consoles.vm1, addresses.vm2, manyPings);
    const more = medianMs - this.#plainMs;
    return {
      expected: `round trip +${2 * latencyMs} ms`,
      measured: `+${ms(more)} (${ms(medianMs)}), ${lossPercent} % lost`,
      good: lossPercent === 0 && more > 2 * latencyMs - 2 && more < 2 * latencyMs + latencyToleranceMs,
      figures: { medianMs, plainMs: this.#plainMs, moreMs: round(more), lossPercent },
    };
  }

  /** The filter counts both directions together, so echo and answer take turns: every second answer is a fourth frame. */
  async #drop(): Promise<Outcome> {
    await this.#change({ filters: { frequency_drop: [dropEvery] } });
    const { lossPercent, sent, received } = await ping(this.#known.consoles.vm1, addresses.vm2, manyPings);
    await this.#change({ filters: {} });
    return {
      expected: 'every 4th frame: 50 % of pings lost',
      measured: `${lossPercent} % lost (${sent - received} of ${sent})`,
      good: lossPercent >= 40 && lossPercent <= 60,
      figures: { lossPercent, sent, received },
    };
  }

  async #suspend(suspend: boolean): Promise<Outcome> {
    await this.#change({ suspend });
    const { lossPercent } = await ping(this.#known.consoles.vm1, addresses.vm2, { count: 5, intervalMs: 200 });
    const expected = suspend ? 100 : 0;
    return {
      expected: suspend ? 'all lost' : 'none lost',
      measured: `${lossPercent} % lost`,
      good: lossPercent === expected,
      figures: { lossPercent },
    };
  }

  async #kill(): Promise<Outcome> {
    const { server, topology, consoles } = this.#known;
    consoles.vm1.send(`ping -i 0.1 ${addresses.vm2}\r`);
    await consoles.vm1.expect(/seq=5 /, 20_000);
    await server.kill();
    this.closeConsoles();
    await new Promise((resolve) => setTimeout(resolve, downMs));
    const began = performance.now();
    this.server = await Server.start(this.dataDirectory, server.port);
    const restartMs = performance.now() - began;
    this.#api = new Api(this.server.url);
    const [vm1, vm2, pc] = await Promise.all([
      Console.open(topology.vm1.console),
      Console.open(topology.vm2.console),
      Console.open(topology.pc.console),
    ]);
    this.#consoles = { vm1, vm2, pc };
    await vm1.expect(/seq=\d+ /, 20_000);
    vm1.skip();
    for (let answers = 0; answers < 10; answers++) await vm1.expect(/seq=\d+ /, 20_000);
    vm1.send('\x03');
    const { sent, received } = readPing(await vm1.expect(/packets transmitted.*# $/s, 20_000));
    // The last echo may be on its way when the ping is ended.
    const lost = Math.max(0, sent - received - 1);
    return {
      expected: 'the ping goes on',
      measured: `${lost} of ${sent} lost, server back in ${seconds(restartMs)}`,
      good: lost <= 2,
      figures: { sent, received, lost, restartMs: round(restartMs), withoutServerMs: downMs },
    };
  }

  async #adopted(): Promise<Outcome> {
    const { api, topology, consoles } = this.#known;
    const nodes = await api.get<Node[]>(`${topology.path}/nodes`);
    const started = nodes.filter(({ status }) => status === 'started').length;
    const name = /^VM2\r?$/m.test(await consoles.vm2.run('hostname'));
    await this.#change({ filters: { latency: [latencyMs] } });
    const slow = await ping(consoles.vm1, addresses.vm2, { count: 3, intervalMs: 200 });
    await this.#change({ filters: {} });
    const follows = (slow.medianMs ?? 0) > 2 * latencyMs;
    return {
      expected: 'started; consoles and links work',
      measured: `${started} of ${nodes.length} started, console ${name ? 'works' : 'DEAD'}, latency ${follows ? 'acts' : 'DOES NOT ACT'}`,
      good: started === 3 && name && follows,
      figures: { started, nodes: nodes.length, medianMs: slow.medianMs ?? 'none' },
    };
  }

  async #duplicate(): Promise<Outcome> {
    const { api, topology, consoles } = this.#known;
    const began = performance.now();
    const copy = await api.post<{ project_id: string; status: string }>(`${topology.path}/duplicate`, { name: 'Demo copy' });
    const took = performance.now() - began;
    const [nodes, links] = await Promise.all([
      api.get<Node[]>(`/projects/${copy.project_id}/nodes`),
      api.get<Link[]>(`/projects/${copy.project_id}/links`),
    ]);
    const after = await ping(consoles.vm1, addresses.vm2, { count: 5, intervalMs: 100 });
    return {
      expected: 'closed copy: 3 nodes, 2 links',
      measured: `${copy.status}, ${nodes.length} nodes, ${links.length} links, in ${Math.round(took)} ms; ping goes on`,
      good: copy.status === 'closed' && nodes.length === 3 && links.length === 2 && after.lossPercent === 0,
      figures: {
        ms: round(took),
        status: copy.status,
        nodes: nodes.length,
        links: links.length,
        lossPercentAfter: after.lossPercent,
      },
    };
  }

  async #change(change: object): Promise<void> {
    const { api, topology } = this.#known;
    await api.put(`${topology.path}/links/${topology.link.link_id}`, change);
  }

  /** What earlier steps made. */
  get #known() {
    const [server, api, topology, consoles] = [this.server, this.#api, this.#topology, this.#consoles];
    const missing = (what: string) => new Error(`the step that makes the ${what} has not run`);
    return {
      get server() {
        if (!server) throw missing('server');
        return server;
      },
      get api() {
        if (!api) throw missing('server');
        return api;
      },
      get topology() {
        if (!topology) throw missing('project');
        return topology;
      },
      get consoles() {
        if (!consoles) throw missing('consoles');
        return consoles;
      },
    };
  }
}

const round = (value: number) => Math.round(value * 10) / 10;
const ms = (value: number) => `${value.toFixed(1)} ms`;
const seconds = (value: number) => `${(value / 1000).toFixed(1)} s`;
