/** Two servers, each in a network namespace of its own; the first has the other as a compute, and a link leads from a PC of the one to a node of the other. */
import type { LinkStats } from '../../src/schema/link-stats.ts';
import { sendSlowly } from './ipxe.ts';
import type { Namespaces } from './namespaces.ts';
import { ping } from './ping.ts';
import { RawClient } from './raw-http.ts';
import { type Config, type RunningServer, type ServerOptions, startServer } from './server.ts';
import { waitFor } from './wait-for.ts';
import { openWebSocket, type WebSocketClient } from './web-socket.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle, tinyVm } from './with-server.ts';

export interface TwoHostsOptions {
  /** Kind of the node of the second server; its address is 10.0.0.2. Default `vpcs`. */
  readonly far?: 'vpcs' | 'qemu';
  /** Settings of the second server; read again at each of its starts. */
  readonly config?: Config;
  /** Whether SIGTERM ends the nodes, too (default true). */
  readonly stopNodes?: boolean;
}

const [user, password] = ['teacher', 'correct-horse'];

export class TwoHosts {
  readonly servers: readonly [RunningServer, RunningServer];
  readonly client: RawClient;
  readonly computeId = crypto.randomUUID();
  /** Started processes, in order. */
  #started = new AsyncDisposableStack();
  #console: WebSocketClient | undefined;
  #project: ProjectHandle | undefined;
  #nodes: [NodeBody, NodeBody] | undefined;
  #link = '';

  private constructor(servers: readonly [RunningServer, RunningServer], url: string) {
    this.servers = servers;
    this.client = new RawClient(url);
  }

  /** Starts two servers; a start that fails half-way stops all that it started. */
  static async start(network: Namespaces, options: TwoHostsOptions = {}): Promise<TwoHosts> {
    await using started = new AsyncDisposableStack();
    const launch = async (options: ServerOptions) => {
      const server = await startServer(options);
      started.defer(() => server.stop());
      return server;
    };
    const { config = {}, stopNodes = true } = options;
    const common = { Qemu: { acceleration: 'off' } };
    const [one, other] = network.launchers;
    const servers = [
      // Everywhere: which of its addresses the other one reaches has to be found out.
      await launch({ launcher: one, args: ['--host', '0.0.0.0'], config: common, stopNodes }),
      await launch({
        launcher: other,
        args: ['--host', network.ends[1]],
        stopNodes,
        config: {
          ...common,
          ...config,
          get Server() {
            return { auth: true, user, password, ...config.Server };
          },
        },
      }),
    ] as const;
    const hosts = new TwoHosts(servers, `http://${network.address}:${servers[0].port}`);
    started.defer(() => hosts.client.close());
    started.defer(() => hosts.leave());
    await hosts.#build(network, options.far ?? 'vpcs');
    hosts.#started = started.move();
    return hosts;
  }

  get project(): ProjectHandle {
    return this.#project as ProjectHandle;
  }

  get nodes(): readonly [NodeBody, NodeBody] {
    return this.#nodes as [NodeBody, NodeBody];
  }

  /** Path of the link. */
  get link(): string {
    return this.#link;
  }

  /** Whether a ping from the first PC is answered by the other node. */
  async isReached(): Promise<boolean> {
    this.#console ??= await this.#open(this.nodes[0]);
    const socket = this.#console;
    const output = () => socket.messages.map(String).join('');
    return ping({ send: (text) => void socket.send(Buffer.from(text)), output }, '10.0.0.2', 2);
  }

  reached(): Promise<unknown> {
    return waitFor(() => this.isReached(), { what: 'a ping that is answered', limitMs: 40_000 });
  }

  /** Another console is opened for the next ping. */
  leave(): void {
    this.#console?.close();
    this.#console = undefined;
  }

  isConnected(wanted: boolean): Promise<unknown> {
    return waitFor(async () => (await this.client.get(`/v2/computes/${this.computeId}`)).connected === wanted, {
      what: wanted ? 'the compute' : 'the loss of the compute',
    });
  }

  /** Nodes and links can be used. */
  untilUsable(): Promise<unknown> {
    const count = async () => (await this.client.get<unknown[]>(`${this.project.path}/problems`)).length;
    return waitFor(async () => (await count()) === 0, { what: 'usable nodes' });
  }

  /** Waits until both ends report that this carrier carries the frames of the link. */
  isCarried(by: LinkStats['carrier']): Promise<unknown> {
    const carrier = async () => (await this.client.get<LinkStats>(`${this.link}/stats`)).carrier;
    return waitFor(async () => (await carrier()) === by, { what: `frames that go by ${by}`, everyMs: 50 });
  }

  /** Each of the servers, also when another one fails to stop. */
  stop(): Promise<void> {
    return this.#started.disposeAsync();
  }

  async #build(network: Namespaces, far: 'vpcs' | 'qemu'): Promise<void> {
    const { client, computeId, servers } = this;
    const address = { protocol: 'http', host: network.ends[1], port: servers[1].port, user, password };
    await client.post('/v2/computes', { compute_id: computeId, name: 'away', ...address });
    const project = await createProject(client);
    this.#project = project;
    const pc = (number: number) => ({ startup_script: `ip 10.0.0.${number}/24\n` });
    const there = { compute_id: computeId, properties: far === 'qemu' ? { ...tinyVm, ram: 32 } : pc(2) };
    const nodes: [NodeBody, NodeBody] = [
      await createNode(client, project, 'vpcs', { compute_id: 'local', properties: pc(1) }),
      await createNode(client, project, far, there),
    ];
    this.#nodes = nodes;
    const made = await client.post<{ link_id: string }>(`${project.path}/links`, { nodes: nodes.map((node) => end(node)) });
    this.#link = `${project.path}/links/${made.link_id}`;
    await client.post(`${project.path}/nodes/start`, {}, 204);
    if (far === 'qemu') await this.#giveAddress(nodes[1]);
  }

  /** Gives an address to a machine that came to iPXE. */
  async #giveAddress(vm: NodeBody): Promise<void> {
    const console = await this.#open(vm);
    const output = () => console.messages.map(String).join('');
    const send = (text: string) => console.send(Buffer.from(text));
    const prompts = () => output().split('iPXE> ').length - 1;
    await waitFor(
      () => {
        send('\x02');
        return prompts() > 0;
      },
      { what: 'the prompt of iPXE', everyMs: 500 },
    );
    for (const line of ['ifopen net0', 'set net0/ip 10.0.0.2', 'set net0/netmask 255.255.255.0']) {
      const before = prompts();
      await sendSlowly({ send }, `${line}\r`);
      await waitFor(() => prompts() > before, { what: `the end of ${line}` });
    }
    console.close();
  }

  #open({ node_id }: NodeBody): Promise<WebSocketClient> {
    return openWebSocket(`${this.client.base.origin}${this.project.path}/nodes/${node_id}/console/ws`);
  }
}
