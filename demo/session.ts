/** State shared by the steps of the demo: a server, its API, the project, and its nodes' consoles. */
import { Api } from './api.ts';
import type { BridgedPair } from './bridged-pair.ts';
import { serverOptions } from './confinement.ts';
import { Console } from './console.ts';
import type { planEngine } from './containers/engine.ts';
import type { Guest } from './guest/guest.ts';
import { Server } from './server.ts';
import type { Topology } from './topology.ts';

export interface Consoles {
  readonly vm1: Console;
  readonly vm2: Console;
  readonly pc: Console;
}

export class Session {
  readonly dataDirectory: string;
  readonly guest: Guest;
  /** The guest as a router. */
  readonly router: Guest;
  /** Shortest round trip from VM1 to VM2 without filters, ms. */
  plainMs = 0;
  /** Two machines on TAP interfaces in a bridge of the kernel, or why there are none. */
  bridged: Promise<BridgedPair | { readonly reason: string }> | undefined;
  /** Resolves once the routers have booted, or cannot. */
  readonly routersBooted = Promise.withResolvers<void>();
  #server: Server | undefined;
  #serverOptions: readonly string[] | undefined;
  #topology: Topology | undefined;
  #consoles: Consoles | undefined;
  #stopped = false;
  readonly #endings: (() => Promise<void>)[] = [];

  readonly enginePlan: Awaited<ReturnType<typeof planEngine>>;

  constructor(dataDirectory: string, { guest, router, enginePlan }: Pick<Session, 'guest' | 'router' | 'enginePlan'>) {
    this.enginePlan = enginePlan;
    this.dataDirectory = dataDirectory;
    this.guest = guest;
    this.router = router;
  }

  get server(): Server {
    return required(this.#server, 'server');
  }

  get api(): Api {
    return new Api(this.server.url);
  }

  get topology(): Topology {
    return required(this.#topology, 'project');
  }

  set topology(topology: Topology) {
    this.#topology = topology;
  }

  get consoles(): Consoles {
    return required(this.#consoles, 'consoles');
  }

  async startServer(port = 0): Promise<void> {
    this.#serverOptions ??= await serverOptions(this.dataDirectory, this.enginePlan);
    const server = await Server.start(this.dataDirectory, { port, options: this.#serverOptions });
    if (this.#stopped) await server.stop();
    this.#server = server;
  }

  async openConsoles(): Promise<Consoles> {
    const [vm1, vm2, pc] = await Promise.all(
      [this.topology.vm1, this.topology.vm2, this.topology.pc].map((node) => Console.open(node.console)),
    );
    this.#consoles = { vm1: required(vm1, 'VM1'), vm2: required(vm2, 'VM2'), pc: required(pc, 'PC1') };
    return this.#consoles;
  }

  closeConsoles(): void {
    for (const console of Object.values(this.#consoles ?? {})) console.close();
    this.#consoles = undefined;
  }

  /** Changes the link from VM1 to VM2. */
  async change(change: object): Promise<void> {
    await this.api.put(`${this.topology.path}/links/${this.topology.link.link_id}`, change);
  }

  /**
   * Stops the server with its nodes. Afterwards nothing can be started, and pending console waits fail.
   * Resolves to the server's exit code; undefined without a server or if it had to be killed.
   */
  async stop(): Promise<number | undefined> {
    this.#stopped = true;
    this.closeConsoles();
    const server = this.#server;
    this.#server = undefined;
    const code = await server?.stop();
    for (const end of this.#endings.splice(0)) await end();
    return code;
  }

  /** Called once the server has stopped; at once if it has. */
  async onStop(end: () => Promise<void>): Promise<void> {
    if (this.#stopped) await end();
    else this.#endings.push(end);
  }
}

function required<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`There is no ${what} now`);
  return value;
}
