/** A server, its projects, nodes and links, by the names of people. */
import { Api, PatchbayError, type ServerAddress } from './api.ts';
import { type NodeConsole, openConsole } from './console.ts';
import type { LabApply, LabPlan, LabRequest, Link, LinkStats, Node, Project, Version } from './generated.ts';
import { type WaitOptions, waitUntil } from './wait-until.ts';

/** A lab file: its text or object, the files that it names, and variables. */
export type LabFile = LabRequest;

export interface LabProgress {
  readonly step: string;
  readonly done: number;
  readonly total: number;
}

/** Filters of a link by their names in the API; a single number stands for a list of one. `{}`: none. */
export type Impairments = Readonly<Record<string, number | string | readonly (number | string)[]>>;

export class Patchbay {
  readonly api: Api;

  private constructor(api: Api) {
    this.api = api;
  }

  /** @throws PatchbayError when the server does not answer, or refuses the login */
  static async connect(address: ServerAddress): Promise<Patchbay> {
    const server = new Patchbay(new Api(address));
    await server.version();
    return server;
  }

  version(): Promise<Version> {
    return this.api.call('GET /v2/version');
  }

  async projects(): Promise<LabProject[]> {
    return (await this.api.call('GET /v2/projects')).map((project) => new LabProject(this.api, project));
  }

  /** Project by its name or id. @throws PatchbayError 404 */
  async project(nameOrId: string): Promise<LabProject> {
    const found = (await this.projects()).find(({ id, name }) => id === nameOrId || name === nameOrId);
    if (!found) throw new PatchbayError(404, `There is no project "${nameOrId}"`);
    return found;
  }

  /** Changes that `apply` would make. */
  plan(lab: LabFile): Promise<LabPlan> {
    return this.api.call('POST /v2/labs/plan', { body: lab });
  }

  /** Creates or changes a project until it is as the lab file says. @throws PatchbayError, also when it could be done only in part */
  async apply(lab: LabApply, onProgress: (progress: LabProgress) => void = () => undefined): Promise<LabProject> {
    const answer = await this.api.send('POST /v2/labs/apply', { body: lab });
    let projectId: string | undefined;
    for await (const line of linesOf(answer)) {
      const { failure, project_id, step, done, total } = JSON.parse(line) as Partial<LabProgress> & {
        failure?: string;
        project_id?: string;
      };
      if (failure !== undefined) throw new PatchbayError(409, failure);
      if (project_id !== undefined) projectId = project_id;
      if (step !== undefined) onProgress({ step, done: done ?? 0, total: total ?? 0 });
    }
    if (projectId === undefined) throw new PatchbayError(0, 'The server ended before the lab was applied');
    return this.project(projectId);
  }
}

export class LabProject {
  readonly api: Api;
  readonly id: string;
  readonly name: string;

  constructor(api: Api, { project_id, name }: Pick<Project, 'project_id' | 'name'>) {
    this.api = api;
    this.id = project_id;
    this.name = name ?? '';
  }

  get path(): { readonly project_id: string } {
    return { project_id: this.id };
  }

  async open(): Promise<void> {
    await this.api.call('POST /v2/projects/{project_id}/open', { path: this.path });
  }

  /** Closes and deletes it, with its files. */
  async destroy(): Promise<void> {
    await this.api.call('POST /v2/projects/{project_id}/close', { path: this.path });
    await this.api.call('DELETE /v2/projects/{project_id}', { path: this.path });
  }

  /** All nodes. */
  async start(): Promise<void> {
    await this.api.call('POST /v2/projects/{project_id}/nodes/start', { path: this.path });
  }

  async stop(): Promise<void> {
    await this.api.call('POST /v2/projects/{project_id}/nodes/stop', { path: this.path });
  }

  async nodes(): Promise<LabNode[]> {
    const nodes = await this.api.call('GET /v2/projects/{project_id}/nodes', { path: this.path });
    return nodes.map((node) => new LabNode(this, node));
  }

  /** Node by its name or id. @throws PatchbayError 404 */
  async node(nameOrId: string): Promise<LabNode> {
    const found = (await this.nodes()).find(({ id, name }) => id === nameOrId || name === nameOrId);
    if (!found) throw new PatchbayError(404, `${this.name} has no node "${nameOrId}"`);
    return found;
  }

  async links(): Promise<LabLink[]> {
    const links = await this.api.call('GET /v2/projects/{project_id}/links', { path: this.path });
    return links.map((link) => new LabLink(this, link));
  }

  /** The link between two nodes, each by name or id. @throws PatchbayError when there is none, or several */
  async link(one: string, other: string): Promise<LabLink> {
    const ids = [(await this.node(one)).id, (await this.node(other)).id].sort().join();
    const found = (await this.links()).filter(({ nodeIds }) => nodeIds.toSorted().join() === ids);
    const [link] = found;
    if (link && found.length === 1) return link;
    throw new PatchbayError(link ? 409 : 404, `There ${link ? 'are several links' : 'is no link'} between ${one} and ${other}`);
  }

  /** Reverts the last step of the project's history. */
  async undo(): Promise<void> {
    await this.api.call('POST /v2/projects/{project_id}/undo', { path: this.path, body: {} });
  }
}

export class LabNode {
  readonly project: LabProject;
  readonly id: string;
  readonly name: string;

  constructor(project: LabProject, { node_id, name }: Pick<Node, 'node_id' | 'name'>) {
    this.project = project;
    this.id = node_id;
    this.name = name;
  }

  get path(): { readonly project_id: string; readonly node_id: string } {
    return { ...this.project.path, node_id: this.id };
  }

  /** State of the node now. */
  read(): Promise<Node> {
    return this.project.api.call('GET /v2/projects/{project_id}/nodes/{node_id}', { path: this.path });
  }

  async start(): Promise<void> {
    await this.project.api.call('POST /v2/projects/{project_id}/nodes/{node_id}/start', { path: this.path });
  }

  async stop(): Promise<void> {
    await this.project.api.call('POST /v2/projects/{project_id}/nodes/{node_id}/stop', { path: this.path });
  }

  async waitUntil(status: Node['status'], options: WaitOptions = {}): Promise<void> {
    const what = `${this.name} is ${status}`;
    await waitUntil(async () => (await this.read()).status === status, { what, ...options });
  }

  /** Opens the console of the node, to type and to expect; close it. */
  console(): Promise<NodeConsole> {
    return openConsole(this.project.api, this.project.id, this.id);
  }
}

export class LabLink {
  readonly project: LabProject;
  readonly id: string;
  readonly nodeIds: readonly string[];

  constructor(project: LabProject, { link_id, nodes }: Pick<Link, 'link_id' | 'nodes'>) {
    this.project = project;
    this.id = link_id;
    this.nodeIds = nodes.map(({ node_id }) => node_id);
  }

  get path(): { readonly project_id: string; readonly link_id: string } {
    return { ...this.project.path, link_id: this.id };
  }

  /** Replaces its impairments, while frames pass. */
  async impair(impairments: Impairments): Promise<Link> {
    const filters = Object.fromEntries(
      Object.entries(impairments).map(([name, value]) => [name, typeof value === 'object' ? [...value] : [value]]),
    );
    return this.project.api.call('PUT /v2/projects/{project_id}/links/{link_id}', { path: this.path, body: { filters } });
  }

  /** Suspends the link, so that it carries no frames, or resumes it. */
  async suspend(suspend = true): Promise<Link> {
    return this.project.api.call('PUT /v2/projects/{project_id}/links/{link_id}', { path: this.path, body: { suspend } });
  }

  stats(): Promise<LinkStats> {
    return this.project.api.call('GET /v2/projects/{project_id}/links/{link_id}/stats', { path: this.path });
  }

  /** Captures while `work` runs. @returns the pcap file */
  async capture(work: () => Promise<unknown>): Promise<Uint8Array> {
    const { api } = this.project;
    const { capture_id } = await api.call('POST /v2/projects/{project_id}/links/{link_id}/captures', { path: this.path, body: {} });
    const path = { ...this.path, capture_id };
    let file: Promise<ArrayBuffer>;
    try {
      const stream = await api.send('GET /v2/projects/{project_id}/links/{link_id}/captures/{capture_id}/pcap', { path });
      file = stream.arrayBuffer();
      // Awaited below, after the capture has ended.
      file.catch(() => undefined);
      await work();
    } finally {
      await api.call('DELETE /v2/projects/{project_id}/links/{link_id}/captures/{capture_id}', { path });
    }
    return new Uint8Array(await file);
  }
}

async function* linesOf(answer: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const reader = answer.body?.getReader();
  let rest = '';
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    rest += decoder.decode(value, { stream: !done });
    const lines = rest.split('\n');
    rest = done ? '' : (lines.pop() ?? '');
    yield* lines.filter((line) => line !== '');
    if (done) return;
  }
}
