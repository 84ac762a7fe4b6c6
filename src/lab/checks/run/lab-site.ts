/** A running project as checks see it: its nodes, links and consoles. */
import type { Method } from '../../../api/route.ts';
import type { Link } from '../../../schema/link.ts';
import type { Node } from '../../../schema/node.ts';
import type { CheckApi } from '../api/check-api.ts';
import { CommandConsole } from '../console/command-console.ts';
import { ConsoleConnection } from '../console/console-connection.ts';
import { Dialogue } from '../console/dialogue.ts';
import type { ConsolePlatform, Platforms } from '../console/platforms.ts';
import type { LinkChoice, TestNode } from '../definition/step-schema.ts';

export class SiteError extends Error {
  override readonly name = 'SiteError';
}

export interface SiteOptions {
  readonly api: CheckApi;
  readonly projectId: string;
  /** How consoles are used, by the names of nodes. */
  readonly settings: ReadonlyMap<string, TestNode>;
  readonly platforms: Platforms;
  /** Folder of the lab file. */
  readonly base: string;
  /** Ms since the beginning of the test. */
  readonly now: () => number;
}

export class LabSite {
  readonly dialogues: Dialogue[] = [];
  readonly path: string;
  readonly #options: SiteOptions;
  readonly #nodes: ReadonlyMap<string, Node>;
  readonly #links: readonly Link[];
  readonly #platforms: ReadonlyMap<string, ConsolePlatform>;
  readonly #consoles = new Map<string, CommandConsole>();
  /** Commands at one console come one after the other. */
  readonly #tails = new Map<string, Promise<unknown>>();

  private constructor(
    options: SiteOptions,
    nodes: readonly Node[],
    links: readonly Link[],
    platforms: Map<string, ConsolePlatform>,
  ) {
    this.#options = options;
    this.path = `/v2/projects/${options.projectId}`;
    this.#nodes = new Map(nodes.map((node) => [node.name, node]));
    this.#links = links;
    this.#platforms = platforms;
  }

  /** @throws PlatformError, RequestError, SiteError */
  static async open(options: SiteOptions): Promise<LabSite> {
    const path = `/v2/projects/${options.projectId}`;
    const [nodes, links] = await Promise.all([
      options.api.json<Node[]>('GET', `${path}/nodes`),
      options.api.json<Link[]>('GET', `${path}/links`),
    ]);
    const unknown = [...options.settings.keys()].find((name) => nodes.every((node) => node.name !== name));
    if (unknown !== undefined) throw new SiteError(`test.nodes names "${unknown}", which is not a node of the lab`);
    const platforms = new Map<string, ConsolePlatform>();
    for (const node of nodes) {
      const name = options.settings.get(node.name)?.platform;
      const isText = node.console_type === 'telnet' && node.console !== null;
      const byKind = isText ? options.platforms.ofKind(node.node_type) : undefined;
      const platform = name === undefined ? byKind : await options.platforms.get(name, options.base);
      if (platform) platforms.set(node.name, platform);
    }
    return new LabSite(options, nodes, links, platforms);
  }

  get nodes(): readonly Node[] {
    return [...this.#nodes.values()];
  }
  get links(): readonly Link[] {
    return this.#links;
  }
  get api(): CheckApi {
    return this.#options.api;
  }
  /** Folder of the lab file. */
  get base(): string {
    return this.#options.base;
  }
  get now(): () => number {
    return this.#options.now;
  }

  settingsOf(name: string): TestNode {
    return this.#options.settings.get(name) ?? {};
  }

  /** @throws SiteError */
  node(name: string): Node {
    const node = this.#nodes.get(name);
    if (!node) throw new SiteError(`there is no node "${name}"`);
    return node;
  }

  findPlatform(name: string): ConsolePlatform | undefined {
    return this.#platforms.get(name);
  }

  /** @throws SiteError */
  platform(name: string): ConsolePlatform {
    const node = this.node(name);
    const platform = this.#platforms.get(name);
    if (!platform) throw new SiteError(`${name} (${node.node_type}) has no platform. Set test.nodes.${name}.platform`);
    return platform;
  }

  /** A request below the project. */
  request<T = unknown>(method: Method, path: string, body?: unknown): Promise<T> {
    return this.#options.api.json<T>(method, `${this.path}${path}`, body);
  }

  /** @throws SiteError unless it is exactly one */
  link(choice: LinkChoice): Link {
    const ends = typeof choice === 'string' ? [choice] : choice;
    const found = this.#links.filter((link) => this.#joins(link, ends));
    const [link] = found;
    const shown = ends.join(' – ');
    if (!link) throw new SiteError(`there is no link ${shown}. Write NODE:PORT, or [NODE, NODE]`);
    if (found.length > 1) throw new SiteError(`${found.length} links are ${shown}. Name a port, as in NODE:PORT`);
    return link;
  }

  nameOf(link: Link): string {
    return link.nodes.map((end) => this.#endNames(end)[0]).join(' – ');
  }

  /** Uses the console of a node; it is opened when it is not. */
  async useConsole<T>(name: string, signal: AbortSignal, use: (console: CommandConsole) => Promise<T>): Promise<T> {
    const before = this.#tails.get(name) ?? Promise.resolve();
    const turn = before.then(async () => {
      signal.throwIfAborted();
      return use(await this.#console(name));
    });
    this.#tails.set(
      name,
      turn.catch(() => {
        this.#consoles.get(name)?.abandon();
        this.#consoles.delete(name);
      }),
    );
    return turn;
  }

  closeConsole(name: string): void {
    this.#consoles.get(name)?.close();
    this.#consoles.delete(name);
  }

  close(): void {
    for (const name of [...this.#consoles.keys()]) this.closeConsole(name);
  }

  async #console(name: string): Promise<CommandConsole> {
    const known = this.#consoles.get(name);
    if (known) return known;
    const platform = this.platform(name);
    const { user, password } = this.settingsOf(name);
    const socket = await this.#options.api.console(this.path, this.node(name).node_id);
    const dialogue = this.#dialogue(name);
    const login = { ...(user !== undefined && { user }), ...(password !== undefined && { password }) };
    const console = new CommandConsole(new ConsoleConnection(socket, dialogue), platform, login);
    this.#consoles.set(name, console);
    return console;
  }

  #dialogue(name: string): Dialogue {
    const known = this.dialogues.find(({ node }) => node === name);
    if (known) return known;
    const dialogue = new Dialogue(name, this.#options.now);
    this.dialogues.push(dialogue);
    return dialogue;
  }

  #joins({ nodes }: Link, ends: readonly string[]): boolean {
    const isEnd = (text: string, at: number) => {
      const end = nodes[at];
      return end !== undefined && (this.#nameOfId(end.node_id) === text || this.#endNames(end).includes(text));
    };
    const [one = '', other] = ends;
    if (other === undefined) return isEnd(one, 0) || isEnd(one, 1);
    return (isEnd(one, 0) && isEnd(other, 1)) || (isEnd(one, 1) && isEnd(other, 0));
  }

  #nameOfId(id: string): string {
    return this.nodes.find(({ node_id }) => node_id === id)?.name ?? id;
  }

  /** `NODE:PORT`, by the short name, the name and the numbers of the port. */
  #endNames({ node_id, adapter_number, port_number }: Link['nodes'][number]): string[] {
    const node = this.nodes.find((one) => one.node_id === node_id);
    const port = node?.ports.find((one) => one.adapter_number === adapter_number && one.port_number === port_number);
    const names = [...(port ? [port.short_name, port.name] : []), `${adapter_number}/${port_number}`];
    return names.map((name) => `${node?.name ?? node_id}:${name}`);
  }
}
