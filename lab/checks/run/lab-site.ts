/** A running project as checks use it: its nodes, links and consoles. */
import type { Method } from '../../../src/api/route.ts';
import type { Link } from '../../../src/schema/link.ts';
import type { Node } from '../../../src/schema/node.ts';
import type { NodeProbe, NodeProbeAnswer } from '../../../src/schema/pc-probe.ts';
import type { CheckApi } from '../api/check-api.ts';
import { CommandConsole } from '../console/command-console.ts';
import type { CommandShell } from '../console/command-shell.ts';
import { ConsoleConnection } from '../console/console-connection.ts';
import type { Dialogue } from '../console/dialogue.ts';
import type { ConsolePlatform, Platforms } from '../console/platforms.ts';
import type { LinkChoice, StepWay, TestNode } from '../definition/step-schema.ts';
import type { Probe } from '../definition/steps.ts';
import { longestResolutionMs, mostResolutions, type ProbeFinding } from '../probes/node-probe.ts';
import { judgeOwnProbe, ownProbeOf } from '../probes/pc-probe.ts';
import { SshFolder, type SshNode } from '../ssh/ssh-access.ts';
import { SshShell } from '../ssh/ssh-shell.ts';
import { NodeShells, type ShellPlace } from './node-shells.ts';

export class SiteError extends Error {
  override readonly name = 'SiteError';
}

export interface SiteOptions {
  readonly api: CheckApi;
  readonly projectId: string;
  /** Console settings by the names of nodes. */
  readonly settings: ReadonlyMap<string, TestNode>;
  readonly platforms: Platforms;
  /** Folder of the lab file. */
  readonly base: string;
  /** Milliseconds since the beginning of the test. */
  readonly now: () => number;
}

interface SiteParts {
  readonly nodes: readonly Node[];
  readonly links: readonly Link[];
  readonly platforms: ReadonlyMap<string, ConsolePlatform>;
  /** Platforms of nodes whose platform over SSH differs. */
  readonly sshPlatforms: ReadonlyMap<string, ConsolePlatform>;
}

export class LabSite {
  readonly path: string;
  readonly #options: SiteOptions;
  readonly #nodes: ReadonlyMap<string, Node>;
  readonly #links: readonly Link[];
  readonly #platforms: ReadonlyMap<string, ConsolePlatform>;
  readonly #sshPlatforms: ReadonlyMap<string, ConsolePlatform>;
  readonly #ssh: SshFolder;
  readonly #shells: NodeShells;

  private constructor(options: SiteOptions, found: SiteParts) {
    this.#options = options;
    this.path = `/v2/projects/${options.projectId}`;
    this.#nodes = new Map(found.nodes.map((node) => [node.name, node]));
    this.#links = found.links;
    this.#platforms = found.platforms;
    this.#sshPlatforms = found.sshPlatforms;
    this.#ssh = new SshFolder(options.base);
    this.#shells = new NodeShells(options.now, (place, dialogue) => this.#open(place, dialogue));
  }

  /** Opens a project. @throws PlatformError, RequestError, SiteError */
  static async open(options: SiteOptions): Promise<LabSite> {
    const path = `/v2/projects/${options.projectId}`;
    const [nodes, links] = await Promise.all([
      options.api.json<Node[]>('GET', `${path}/nodes`),
      options.api.json<Link[]>('GET', `${path}/links`),
    ]);
    const unknown = [...options.settings.keys()].find((name) => nodes.every((node) => node.name !== name));
    if (unknown !== undefined) throw new SiteError(`test.nodes names "${unknown}", which is not a node of the lab`);
    const platforms = new Map<string, ConsolePlatform>();
    const sshPlatforms = new Map<string, ConsolePlatform>();
    for (const node of nodes) {
      const name = options.settings.get(node.name)?.platform;
      const isText = node.console_type === 'telnet' && node.console !== null;
      const byKind = isText ? options.platforms.ofKind(node.node_type) : undefined;
      const platform = name === undefined ? byKind : await options.platforms.get(name, options.base);
      if (platform) platforms.set(node.name, platform);
      const bySsh = options.settings.get(node.name)?.ssh?.platform;
      if (bySsh !== undefined) sshPlatforms.set(node.name, await options.platforms.get(bySsh, options.base));
    }
    return new LabSite(options, { nodes, links, platforms, sshPlatforms });
  }

  get dialogues(): readonly Dialogue[] {
    return this.#shells.dialogues;
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

  /** Finds a node by name. @throws SiteError */
  node(name: string): Node {
    const node = this.#nodes.get(name);
    if (!node) throw new SiteError(`there is no node "${name}"`);
    return node;
  }

  /** Whether a step can connect to a node in this way. */
  has(name: string, by: StepWay): boolean {
    return this.findPlatform(name, by) !== undefined && (by !== 'ssh' || this.settingsOf(name).ssh !== undefined);
  }

  findPlatform(name: string, by: StepWay = 'console'): ConsolePlatform | undefined {
    if (by === 'container') return this.#options.platforms.ofShell(this.node(name).node_type);
    const own = this.#platforms.get(name);
    return by === 'ssh' ? (this.#sshPlatforms.get(name) ?? own ?? this.#options.platforms.remote) : own;
  }

  /** Returns the platform of a node. @throws SiteError */
  platform(name: string, by: StepWay = 'console'): ConsolePlatform {
    const node = this.node(name);
    const platform = this.findPlatform(name, by);
    if (!platform && by === 'container')
      throw new SiteError(`${name} (${node.node_type}) is not a container: \`by: container\` needs one`);
    if (!platform) throw new SiteError(`${name} (${node.node_type}) has no platform. Set test.nodes.${name}.platform`);
    return platform;
  }

  /** Sends a request below the project's path. */
  request<T = unknown>(method: Method, path: string, body?: unknown): Promise<T> {
    return this.#options.api.json<T>(method, `${this.path}${path}`, body);
  }

  /** Finds a link. @throws SiteError unless exactly one matches */
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

  /** Uses the console of a node, which is opened if necessary. */
  useConsole<T>(name: string, signal: AbortSignal, use: (console: CommandConsole) => Promise<T>): Promise<T> {
    return this.#shells.use({ node: name, by: 'console' }, signal, (shell) => use(shell as CommandConsole));
  }

  useShell<T>(place: ShellPlace, signal: AbortSignal, use: (shell: CommandShell) => Promise<T>): Promise<T> {
    return this.#shells.use(place, signal, use);
  }

  /**
   * Carries a probe out by the node itself, where its platform says that it answers probes; undefined: at its console. `resolves`: its
   * address is looked for before packets count.
   */
  async askOwnProbe(name: string, probe: Probe, resolves: boolean, signal: AbortSignal): Promise<ProbeFinding | undefined> {
    const own = this.findPlatform(name)?.own_probes ? ownProbeOf(probe) : undefined;
    if (!own) return undefined;
    const path = `${this.path}/nodes/${this.node(name).node_id}/probe`;
    const ask = (body: NodeProbe) => this.#options.api.json<NodeProbeAnswer>('POST', path, body, signal);
    try {
      const end = resolves ? performance.now() + longestResolutionMs : 0;
      for (let tries = 0; tries < mostResolutions && performance.now() < end; tries += 1)
        if ((await ask({ ...own, count: 1 })).received) break;
      return judgeOwnProbe(probe, await ask(own));
    } catch (error) {
      // Another server, or a PC of one before it: its console says what it can.
      if ([404, 409].includes((error as { status?: number }).status ?? 0)) return undefined;
      throw error;
    }
  }

  closeShells(name: string): void {
    this.#shells.close(name);
  }

  close(): void {
    this.#shells.closeAll();
    this.#ssh.close();
  }

  /** Checks the SSH settings of a node before the lab starts. @throws SshError, SiteError */
  async checkSsh(name: string): Promise<void> {
    await this.#ssh.access(this.#sshNode(name));
  }

  async #open({ node: name, by }: ShellPlace, dialogue: Dialogue): Promise<CommandShell> {
    const { api } = this.#options;
    const platform = this.platform(name, by);
    if (by === 'ssh') return new SshShell({ ...(await this.#ssh.access(this.#sshNode(name))), platform, dialogue });
    const { node_id } = this.node(name);
    const isConsole = by === 'console';
    const socket = await (isConsole ? api.console(this.path, node_id) : api.auxiliary(this.path, node_id));
    const { user, password } = this.settingsOf(name);
    const login = isConsole ? { ...(user !== undefined && { user }), ...(password !== undefined && { password }) } : {};
    return new CommandConsole(new ConsoleConnection(socket, dialogue), platform, login);
  }

  #sshNode(name: string): SshNode {
    const { ssh: settings, user, password } = this.settingsOf(name);
    if (!settings) throw new SiteError(`${name} has no SSH access. Set test.nodes.${name}.ssh`);
    const { via } = settings;
    const viaContainer = via === undefined ? undefined : this.node(via).properties.container_id;
    if (via !== undefined && (typeof viaContainer !== 'string' || !/^[0-9a-f]{12,64}$/.test(viaContainer))) {
      throw new SiteError(`SSH to ${name} cannot be made through ${via}: it is not a container`);
    }
    const defaultUser = user ?? this.platform(name, 'ssh').user ?? 'root';
    return { name, settings, defaultUser, defaultPassword: password, viaContainer: viaContainer as string | undefined };
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

  /** Lists an end's names `NODE:PORT`, by the port's short name, name and numbers. */
  #endNames({ node_id, adapter_number, port_number }: Link['nodes'][number]): string[] {
    const node = this.nodes.find((one) => one.node_id === node_id);
    const port = node?.ports.find((one) => one.adapter_number === adapter_number && one.port_number === port_number);
    const names = [...(port ? [port.short_name, port.name] : []), `${adapter_number}/${port_number}`];
    return names.map((name) => `${node?.name ?? node_id}:${name}`);
  }
}
