/** Clients that change a project without pause, and record in `Facts` which changes were acknowledged. */
import { randomUUID } from 'node:crypto';
import type { RawClient, Reply } from '../support/raw-http.ts';
import type { Change, Facts } from './facts.ts';
import type { Chance } from './random.ts';

interface Link {
  link_id: string;
  filters: unknown;
  suspend: boolean;
  nodes: { node_id: string }[];
}
interface Node {
  node_id: string;
  x: number;
  y: number;
  status: string;
}
interface Project {
  project_id: string;
  name: string;
  zoom: number;
}

const linkKey = (ids: readonly string[]) => `link:${[...ids].sort().join('-')}`;

/** Everything of `project` and all projects, in the form of facts. */
export async function readFacts(client: RawClient, project: string): Promise<Map<string, string>> {
  const facts = new Map<string, string>();
  const [projects, nodes, links] = await Promise.all([
    client.get<Project[]>('/v2/projects'),
    client.get<Node[]>(`${project}/nodes`),
    client.get<Link[]>(`${project}/links`),
  ]);
  for (const { project_id, name, zoom } of projects) facts.set(`project:${project_id}`, JSON.stringify([name, zoom]));
  for (const { node_id, x, y, status } of nodes) {
    facts.set(`node:${node_id}`, JSON.stringify([x, y]));
    facts.set(`status:${node_id}`, status);
  }
  for (const link of links) {
    facts.set(linkKey(link.nodes.map(({ node_id }) => node_id)), JSON.stringify([link.filters, link.suspend]));
  }
  return facts;
}

export interface Situation {
  /** `/v2/projects/{id}`. */
  readonly project: string;
  readonly facts: Facts;
  readonly chance: Chance;
  /** Requests that were refused though nothing was wrong with them. */
  readonly refusals: string[];
}

/** Asks once and keeps the facts; false when the server did not answer. */
export async function change(situation: Situation, ask: () => Promise<Reply>, wanted: Change): Promise<boolean> {
  const { facts, refusals } = situation;
  const before = facts.before(wanted);
  facts.begin(wanted);
  let reply: Reply;
  try {
    reply = await ask();
  } catch {
    return false;
  }
  if (reply.status < 300) facts.done(wanted);
  else {
    facts.refused(before);
    refusals.push(`${reply.request}: ${reply.status} ${reply.text().slice(0, 300)}`);
  }
  return true;
}

/** Creates, moves, links, filters, starts, stops and deletes nodes that are its own. */
export class NodeHammer {
  readonly #situation: Situation;
  /** Nodes it ever made, links with their ids, as far as it knows them. */
  readonly #nodes: string[] = [];
  readonly #links = new Map<string, string>();
  client: RawClient;
  count = 0;

  constructor(situation: Situation, client: RawClient) {
    this.#situation = situation;
    this.client = client;
  }

  /** Steps until the server no longer answers. */
  async run(): Promise<void> {
    await this.#findLinks();
    while (await this.#step()) this.count += 1;
  }

  #step(): Promise<boolean> {
    const { chance } = this.#situation;
    const nodes = this.#nodes.filter((id) => this.#value(`node:${id}`));
    const links = [...this.#links.keys()].filter((key) => this.#value(key));
    const free = nodes.filter((id) => !links.some((key) => key.includes(id)));
    const roll = chance.next();
    if (nodes.length < 4 || (roll < 0.15 && nodes.length < 9)) return this.#create();
    if (roll < 0.3 && free.length >= 2) return this.#link(free);
    const link = chance.pick(links);
    if (roll < 0.5 && link) return this.#filter(link);
    if (roll < 0.55 && link) return this.#unlink(link);
    const node = chance.pick(nodes) as string;
    if (roll < 0.62 && nodes.length > 5) return this.#delete(node, links);
    if (roll < 0.72) return this.#startOrStop(node);
    return this.#move(node);
  }

  #value(key: string): string | undefined {
    return this.#situation.facts.value(key);
  }

  #send(line: string, body: unknown, wanted: Change): Promise<boolean> {
    return change(this.#situation, () => this.client.send(line, { body }), wanted);
  }

  #create(): Promise<boolean> {
    const { project, chance } = this.#situation;
    const node_id = randomUUID();
    const [x, y] = [chance.between(-500, 500), chance.between(-500, 500)];
    this.#nodes.push(node_id);
    const body = { node_id, name: `N${node_id.slice(0, 8)}`, node_type: 'vpcs', compute_id: 'local', x, y };
    const wanted = { [`node:${node_id}`]: JSON.stringify([x, y]), [`status:${node_id}`]: 'stopped' };
    return this.#send(`POST ${project}/nodes`, body, wanted);
  }

  #move(id: string): Promise<boolean> {
    const { project, chance } = this.#situation;
    const [x, y] = [chance.between(-500, 500), chance.between(-500, 500)];
    return this.#send(`PUT ${project}/nodes/${id}`, { x, y }, { [`node:${id}`]: JSON.stringify([x, y]) });
  }

  #startOrStop(id: string): Promise<boolean> {
    const isRunning = this.#value(`status:${id}`) === 'started';
    const wanted = { [`status:${id}`]: isRunning ? 'stopped' : 'started' };
    return this.#send(`POST ${this.#situation.project}/nodes/${id}/${isRunning ? 'stop' : 'start'}`, {}, wanted);
  }

  #delete(id: string, links: readonly string[]): Promise<boolean> {
    // A deletion stops the node first: after a kill between the two, the node exists and is stopped.
    this.#situation.facts.begin({ [`status:${id}`]: 'stopped' });
    const gone = [`node:${id}`, `status:${id}`, ...links.filter((key) => key.includes(id))];
    return this.#send(`DELETE ${this.#situation.project}/nodes/${id}`, undefined, Object.fromEntries(gone.map((key) => [key, ''])));
  }

  async #link(free: readonly string[]): Promise<boolean> {
    const { project } = this.#situation;
    const pair = free.slice(0, 2);
    const key = linkKey(pair);
    const nodes = pair.map((node_id) => ({ node_id, adapter_number: 0, port_number: 0 }));
    this.#links.set(key, '');
    const answered = await this.#send(
      `POST ${project}/links`,
      { nodes, filters: { latency: [3] } },
      { [key]: JSON.stringify([{ latency: [3] }, false]) },
    );
    if (answered) await this.#findLinks();
    return answered;
  }

  #filter(key: string): Promise<boolean> {
    const { project, chance } = this.#situation;
    const filters =
      chance.pick([{ latency: [chance.between(1, 99)] }, { corrupt: [1], packet_loss: [chance.between(1, 99)] }, {}]) ?? {};
    const suspend = chance.next() < 0.3;
    return this.#send(
      `PUT ${project}/links/${this.#links.get(key)}`,
      { filters, suspend },
      { [key]: JSON.stringify([filters, suspend]) },
    );
  }

  #unlink(key: string): Promise<boolean> {
    return this.#send(`DELETE ${this.#situation.project}/links/${this.#links.get(key)}`, undefined, { [key]: '' });
  }

  /** Ids of links are the server's: they are read back. */
  async #findLinks(): Promise<void> {
    const links = await this.client.get<Link[]>(`${this.#situation.project}/links`).catch(() => []);
    for (const { link_id, nodes } of links) {
      const key = linkKey(nodes.map(({ node_id }) => node_id));
      if (this.#links.has(key)) this.#links.set(key, link_id);
    }
  }
}

/** Creates, changes, duplicates and deletes projects of its own; also duplicates the project that all clients change. */
export class ProjectHammer {
  readonly #situation: Situation;
  readonly #projects: string[] = [];
  client: RawClient;
  count = 0;

  constructor(situation: Situation, client: RawClient) {
    this.#situation = situation;
    this.client = client;
  }

  async run(): Promise<void> {
    while (await this.#step()) this.count += 1;
  }

  #step(): Promise<boolean> {
    const { chance, facts, project } = this.#situation;
    const own = this.#projects.filter((id) => facts.value(`project:${id}`));
    const id = chance.pick(own);
    const roll = chance.next();
    if (id === undefined || (roll < 0.2 && own.length < 8)) return this.#make('POST /v2/projects', 100);
    if (roll < 0.35 && own.length < 8) return this.#make(`POST ${chance.next() < 0.5 ? project : `/v2/projects/${id}`}/duplicate`);
    if (roll < 0.55) return change(this.#situation, () => this.client.send(`DELETE /v2/projects/${id}`), { [`project:${id}`]: '' });
    const zoom = chance.between(10, 500);
    const [name] = JSON.parse(facts.value(`project:${id}`) as string) as [string];
    const wanted = { [`project:${id}`]: JSON.stringify([name, zoom]) };
    return change(this.#situation, () => this.client.send(`PUT /v2/projects/${id}`, { body: { zoom } }), wanted);
  }

  #make(line: string, zoom = this.#situation.chance.between(10, 500)): Promise<boolean> {
    const project_id = randomUUID();
    this.#projects.push(project_id);
    const name = `P${project_id.slice(0, 8)}`;
    const wanted = { [`project:${project_id}`]: JSON.stringify([name, zoom]) };
    return change(this.#situation, () => this.client.send(line, { body: { name, project_id, zoom } }), wanted);
  }
}
