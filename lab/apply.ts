/**
 * Applies a plan through the API with as few requests as possible: one for all new objects, one for all moves. After a failure the
 * project keeps the changes made so far, and a new plan contains the rest; a project that the apply made itself is deleted again.
 */
import type { Bulk, BulkCreate, BulkNode } from '../src/schema/bulk.ts';
import type { Node } from '../src/schema/node.ts';
import type { Project } from '../src/schema/project.ts';
import type { Static } from '../src/schema/type.ts';
import type { Lab, LabLink } from './file/lab.ts';
import { LabError, type Place } from './file/lab-error.ts';
import type { LabPlan, LinkStep, NodeStep } from './plan/lab-plan.ts';
import { planLinks } from './plan/plan-links.ts';
import type { LabApi } from './state/lab-api.ts';
import { bounded, filePath, readProject } from './state/lab-state.ts';

/** Progress of an apply. */
interface ApplyProgress {
  readonly step: string;
  readonly done: number;
  readonly total: number;
}

interface ApplyOptions {
  /** Start all nodes afterwards. */
  readonly start?: boolean;
  /** Refuse nodes whose image or program their compute does not have. Default: they are made, and say what they lack. */
  readonly strict?: boolean;
  readonly onProgress?: (progress: ApplyProgress) => void;
  /** Aborts the apply between two requests. */
  readonly signal?: AbortSignal | undefined;
}

/** Limits of one bulk request: its body may have 1 MiB and 50,000 values. */
const mostInBulk = 500;
const mostBulkBytes = 800_000;
const mostBulkValues = 40_000;

/** Applies a plan. @returns the project afterwards. @throws the first error of a request */
export async function applyPlan(api: LabApi, lab: Lab, plan: LabPlan, options: ApplyOptions = {}): Promise<Project> {
  if (options.strict) refuseLacking(lab, plan);
  const run = new Run(api, lab, plan, options);
  return run.all();
}

/** Most names of nodes that the refusal of a missing image lists. */
const shownNodes = 3;

/** @throws LabError with all missing images of the nodes that the plan makes */
function refuseLacking({ nodes }: Lab, plan: LabPlan): void {
  const made = new Set(plan.nodes.flatMap(({ name, create }) => (create ? [name] : [])));
  const lacking = (plan.missing ?? []).flatMap(({ image, compute, nodes: all }) => {
    const names = all.filter((name) => made.has(name));
    const more = names.length > shownNodes ? ` and ${names.length - shownNodes} more` : '';
    return names.length === 0 ? [] : [`${image} on ${compute} (${names.slice(0, shownNodes).join(', ')}${more})`];
  });
  if (lacking.length === 0) return;
  const needs = new Set(plan.missing?.flatMap(({ nodes: all }) => all));
  const place = nodes.find(({ name }) => made.has(name) && needs.has(name))?.place;
  throw new LabError(`these images were not found: ${lacking.join('; ')}. Upload them, or make the lab without \`strict\``, place);
}

class Run {
  readonly #api: LabApi;
  readonly #lab: Lab;
  readonly #plan: LabPlan;
  readonly #options: ApplyOptions;
  readonly #total: number;
  #done = 0;
  #path = '';

  constructor(api: LabApi, lab: Lab, plan: LabPlan, options: ApplyOptions) {
    this.#api = api;
    this.#lab = lab;
    this.#plan = plan;
    this.#options = options;
    this.#total = plan.nodes.length + plan.links.length + plan.drawings.length;
  }

  async all(): Promise<Project> {
    const project = await this.#project();
    this.#path = `/v2/projects/${project.project_id}`;
    let ids: ReadonlyMap<string, string>;
    try {
      ids = await this.#content();
    } catch (error) {
      if (this.#plan.project.id === undefined && !this.#options.signal?.aborted) await this.#abandon();
      throw error;
    }
    await this.#start(ids);
    return this.#api.json<Project>('GET', this.#path);
  }

  /** Deletes the project that this apply made; the first error is the one that counts. */
  async #abandon(): Promise<void> {
    await this.#api.json('POST', `${this.#path}/close`, {}).catch(() => undefined);
    await this.#api.json('DELETE', this.#path).catch(() => undefined);
  }

  /** Makes the project's content as the lab has it. @returns the ids of new nodes by name */
  async #content(): Promise<ReadonlyMap<string, string>> {
    const { nodes } = this.#plan;
    await this.#freePorts(this.#plan.links);
    await this.#stop(nodes.filter(({ restart }) => restart));
    await this.#delete(
      'nodes',
      nodes.filter(({ action }) => action === 'delete' || action === 'replace'),
    );
    await this.#updateNodes(nodes.filter(({ action }) => action === 'update'));
    const ids = await this.#createNodes(nodes.filter(({ create }) => create !== undefined));
    await this.#writeFiles(ids);
    await this.#links();
    await this.#drawings();
    return ids;
  }

  async #project(): Promise<Project> {
    const { id, name, body } = this.#plan.project;
    if (id === undefined) return this.#api.json<Project>('POST', '/v2/projects', { ...body, name });
    if (Object.keys(body).length === 0) return this.#api.json<Project>('GET', `/v2/projects/${id}`);
    return this.#api.json<Project>('PUT', `/v2/projects/${id}`, body);
  }

  /** Deletes links, and mirrors that are removed or changed. */
  async #freePorts(steps: readonly LinkStep[]): Promise<void> {
    const mirrored = steps.filter(({ id, mirror }) => id !== undefined && mirror !== undefined);
    await this.#bounded(mirrored, ({ id }) => this.#api.json('DELETE', `${this.#path}/links/${id}/mirror`));
    await this.#delete(
      'links',
      steps.filter(({ action }) => action === 'delete'),
    );
  }

  /** Deletes objects; locked ones are unlocked first. */
  async #delete(
    what: 'nodes' | 'links' | 'drawings',
    steps: readonly { readonly id?: string; readonly locked?: boolean }[],
  ): Promise<void> {
    const locked = steps.filter(({ locked: is }) => is);
    await this.#bounded(locked, ({ id }) => this.#api.json('PUT', `${this.#path}/${what}/${id}`, { locked: false }));
    for (const part of parts(steps.map(({ id }) => id))) {
      await this.#api.json('POST', `${this.#path}/bulk/delete`, { [what]: part });
      this.#report(`delete ${what}`, part.length);
    }
  }

  async #stop(steps: readonly NodeStep[]): Promise<void> {
    await this.#bounded(steps, ({ id }) => this.#api.json('POST', `${this.#path}/nodes/${id}/stop`, {}));
  }

  /** Updates nodes. All nodes that only move share one request. */
  async #updateNodes(steps: readonly NodeStep[]): Promise<void> {
    const isMove = ({ update, files }: NodeStep) =>
      update !== undefined && files.size === 0 && Object.keys(update).every((key) => ['x', 'y', 'z', 'locked'].includes(key));
    const moves = steps.filter(isMove);
    for (const part of parts(moves)) {
      await this.#api.json('PUT', `${this.#path}/bulk`, { nodes: part.map(({ id, update }) => ({ node_id: id, ...update })) });
      this.#report('move nodes', part.length);
    }
    const others = steps.filter((step) => !isMove(step));
    await this.#each('change nodes', others, async ({ id, update }) => {
      if (update) await this.#api.json('PUT', `${this.#path}/nodes/${id}`, update);
    });
  }

  /** Creates nodes. @returns their ids by name */
  async #createNodes(steps: readonly NodeStep[]): Promise<ReadonlyMap<string, string>> {
    const ids = new Map<string, string>();
    const places = new Map(this.#lab.nodes.map(({ name, place }) => [name, place]));
    for (const part of parts(await placeNodes(this.#api, this.#lab, this.#path, steps))) {
      const nodes = part.map(({ create }) => create as BulkNode);
      const body = { nodes, ...(this.#options.strict && { strict: true }) };
      const made = await this.#bulk(body, (index) => places.get(part[index]?.name ?? ''));
      for (const [index, { name }] of part.entries()) ids.set(name, made.nodes[index]?.node_id ?? '');
      this.#report('create nodes', part.length);
    }
    return ids;
  }

  async #writeFiles(ids: ReadonlyMap<string, string>): Promise<void> {
    const files = this.#plan.nodes.flatMap(({ action, name, id, files: own }) => {
      const node = action === 'update' ? id : ids.get(name);
      return action === 'delete' || node === undefined ? [] : [...own].map(([path, text]) => ({ node, path, text }));
    });
    await this.#bounded(files, ({ node, path, text }) => this.#api.upload(filePath(this.#path, node, path), text));
  }

  /** Applies the links by a second plan, because the ports of all nodes are known now. */
  async #links(): Promise<void> {
    if (this.#lab.links.length === 0 && this.#plan.links.length === 0) return;
    const project = await this.#api.json<Project>('GET', this.#path);
    const state = await readProject(this.#api, project);
    const byName = new Map(state.nodes.map(({ name, node_id }) => [name.replaceAll(' ', ''), node_id]));
    const steps = planLinks(this.#lab, state, []);
    await this.#freePorts(steps);
    const mirrors = steps.flatMap(({ id, mirror, place }) => (id !== undefined && mirror ? [{ id, mirror, place }] : []));
    for (const part of parts(steps.filter(({ action }) => action === 'create'))) {
      const links = part.map(({ ends, body }) => ({ ...body, nodes: (ends ?? []).map((end) => endOf(end, byName)) }));
      const made = await this.#bulk({ links } as BulkCreate, (index) => part[index]?.place);
      await this.#bounded([...part.entries()], ([index, step]) => this.#schedule(made.links[index]?.link_id ?? '', step));
      for (const [index, { mirror, place }] of part.entries())
        if (mirror) mirrors.push({ id: made.links[index]?.link_id ?? '', mirror, place });
      this.#report('create links', part.length);
    }
    const updates = steps.filter(({ action }) => action === 'update');
    await this.#each('change links', updates, async (step) => {
      const { id = '', body = {}, place } = step;
      if (Object.keys(body).length > 0) await placed(this.#api.json('PUT', `${this.#path}/links/${id}`, body), place);
      await this.#schedule(id, step);
    });
    await this.#bounded(mirrors, ({ id, mirror, place }) =>
      placed(this.#api.json('PUT', `${this.#path}/links/${id}/mirror`, endOf(mirror, byName)), place),
    );
  }

  async #schedule(linkId: string, { schedule, place }: LinkStep): Promise<void> {
    const path = `${this.#path}/links/${linkId}/schedule`;
    if (schedule) await placed(this.#api.json('PUT', path, schedule), place);
    else if (schedule === null) await this.#api.json('DELETE', path);
  }

  async #drawings(): Promise<void> {
    const { drawings } = this.#plan;
    const of = (wanted: string) => drawings.filter(({ action }) => action === wanted);
    await this.#delete('drawings', of('delete'));
    for (const part of parts(of('create'))) {
      await this.#bulk({ drawings: part.map(({ body }) => body ?? {}) });
      this.#report('create drawings', part.length);
    }
    for (const part of parts(of('update'))) {
      await this.#api.json('PUT', `${this.#path}/bulk`, { drawings: part.map(({ id, body }) => ({ drawing_id: id, ...body })) });
      this.#report('move drawings', part.length);
    }
  }

  async #start(ids: ReadonlyMap<string, string>): Promise<void> {
    if (this.#options.start) {
      await this.#api.json('POST', `${this.#path}/nodes/start`, {});
      return;
    }
    const stopped = this.#plan.nodes.flatMap(({ action, name, id, restart }) =>
      restart && action !== 'delete' ? [ids.get(name) ?? id] : [],
    );
    await this.#bounded(stopped, (id) => this.#api.json('POST', `${this.#path}/nodes/${id}/start`, {}));
  }

  /** `placeOf`: the place in the lab file of the object with this index. */
  #bulk(body: BulkCreate, placeOf: PlaceOf = () => undefined): Promise<Static<typeof Bulk>> {
    return placed(this.#api.json<Static<typeof Bulk>>('POST', `${this.#path}/bulk`, body), placeOf);
  }

  async #each<T>(step: string, items: readonly T[], fn: (item: T) => Promise<unknown>): Promise<void> {
    await this.#bounded(items, async (item) => {
      await fn(item);
      this.#report(step, 1);
    });
  }

  async #bounded<T>(items: readonly T[], fn: (item: T) => Promise<unknown>): Promise<void> {
    await bounded(items, (item) => {
      this.#options.signal?.throwIfAborted();
      return fn(item);
    });
    this.#options.signal?.throwIfAborted();
  }

  #report(step: string, count: number): void {
    this.#options.signal?.throwIfAborted();
    this.#done = Math.min(this.#total, this.#done + count);
    this.#options.onProgress?.({ step, done: this.#done, total: this.#total });
  }
}

type PlaceOf = (index: number) => Place | undefined;

/** Gives a refusal the place of its object in the lab file; that of a request of several objects names it by its index. */
async function placed<T>(request: Promise<T>, where: Place | PlaceOf | undefined): Promise<T> {
  return request.catch((error: Error & { readonly status?: number }) => {
    const [, index, words = error.message] = /^(?:nodes|links)\[(\d+)\]: (.*)$/s.exec(error.message) ?? [];
    const place = typeof where === 'function' ? where(Number(index)) : where;
    const isRefusal = error.status !== undefined && error.status >= 400 && error.status < 500;
    throw place && isRefusal ? new LabError(words, place) : error;
  });
}

function endOf({ node, port, label }: NonNullable<LinkStep['ends']>[number], byName: ReadonlyMap<string, string>) {
  return {
    node_id: byName.get(node),
    adapter_number: port?.adapter ?? 0,
    port_number: port?.port ?? 0,
    ...(label && { label }),
  };
}

/** Splits a list into parts that fit into one request. */
function parts<T>(items: readonly T[]): T[][] {
  const found: T[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  let values = 0;
  for (const item of items) {
    const text = JSON.stringify(item);
    const size = Buffer.byteLength(text);
    const count = mostValuesIn(text);
    const isFull = bytes + size > mostBulkBytes || values + count > mostBulkValues;
    if (isFull || (found.at(-1)?.length ?? 0) >= mostInBulk) {
      found.push([]);
      bytes = 0;
      values = 0;
    }
    found.at(-1)?.push(item);
    bytes += size;
    values += count;
  }
  return found;
}

/** Returns an upper bound of the number of values in a JSON text: separators within strings count too. */
function mostValuesIn(text: string): number {
  let count = 1;
  for (const character of text) if (character === ',' || character === '[' || character === '{') count += 1;
  return count;
}

/** Most nodes and links of one placement request. In larger labs the request that creates a node places it. */
const mostPlacedNodes = 2_000;
const mostPlacedLinks = 5_000;

interface PlannedComputes {
  readonly nodes: readonly { readonly ref: string; readonly compute_id: string | null }[];
}

/**
 * Chooses computes for nodes that the file leaves to the server (`auto`): for the whole lab at once, so that few links cross the
 * network. Returns the steps, with a compute for each placed node that fits. `path`: of the project, whose other nodes stay.
 */
async function placeNodes(api: LabApi, lab: Lab, path: string, steps: readonly NodeStep[]): Promise<readonly NodeStep[]> {
  if (!steps.some(({ create }) => create?.compute_id === 'auto')) return steps;
  const present = await api.json<Node[]>('GET', `${path}/nodes`);
  const created = new Set(steps.map(({ name }) => name));
  const nodes = [
    ...present.filter(({ name }) => !created.has(name)).map(({ name, ...node }) => placedNode(name, node)),
    ...steps.flatMap(({ name, create }) => (create ? [placedNode(name, create)] : [])),
  ];
  if (nodes.length > mostPlacedNodes || lab.links.length > mostPlacedLinks) return steps;
  const refs = new Set(nodes.map(({ ref }) => ref));
  const links = lab.links.filter(({ ends }) => ends.every(({ node }) => refs.has(node))).map(placedLink);
  const planned = await api.json<PlannedComputes>('POST', '/v2/placement', { nodes, links });
  const computes = new Map(planned.nodes.map(({ ref, compute_id }) => [ref, compute_id]));
  return steps.map((step) => {
    const compute_id = computes.get(step.name);
    if (step.create?.compute_id !== 'auto' || !compute_id) return step;
    return { ...step, create: { ...step.create, compute_id } };
  });
}

function placedNode(
  ref: string,
  { node_type, properties = {}, compute_id }: Pick<BulkNode, 'node_type' | 'properties' | 'compute_id'>,
) {
  // Memory and processors are numbers; the placement ignores other properties.
  const numbers = Object.entries(properties).filter(([, value]) => typeof value === 'number');
  return { ref, node_type, properties: Object.fromEntries(numbers), ...(compute_id !== 'auto' && { compute_id }) };
}

function placedLink({ ends, filters }: LabLink) {
  const [delay = 0] = (filters.delay ?? filters.latency ?? []).map(Number);
  return { nodes: ends.map(({ node }) => node), ...(delay > 0 && { delay }) };
}
