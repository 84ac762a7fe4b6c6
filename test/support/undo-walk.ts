/** Random steps in a project for tests of undo, and the topology after each. */
import assert from 'node:assert/strict';
import type { History } from '../../src/schema/history.ts';
import type { Chance } from '../durability/random.ts';

/** A request below the project's path; the answer's body. @throws when it is refused */
export type AskProject = (line: string, body?: object) => Promise<unknown>;

interface Port {
  readonly adapter_number: number;
  readonly port_number: number;
  readonly link_type: string;
}
interface NodeObject {
  readonly node_id: string;
  readonly name: string;
  readonly node_type: string;
  readonly locked: boolean;
  readonly ports: readonly Port[];
}
interface DrawingObject {
  readonly drawing_id: string;
  readonly locked: boolean;
}
interface LinkObject {
  readonly link_id: string;
  readonly nodes: readonly { readonly node_id: string; readonly adapter_number: number; readonly port_number: number }[];
}

interface FreePort {
  readonly node_type: string;
  readonly end: LinkObject['nodes'][number];
}

const isUplink = ({ node_type }: FreePort) => node_type === 'nat' || node_type === 'cloud';
/** Whether the two may be joined. */
const fits = (one: FreePort, other: FreePort) => other.end.node_id !== one.end.node_id && !(isUplink(one) && isUplink(other));

const capture = { capturing: false, capture_compute_id: null, capture_file_name: null, capture_file_path: null };
const left = { command_line: null, node_directory: null, status: null, console_host: null, ...capture };
/** Leaves out the interfaces of the host, which come and go with other tests. */
const withoutInterfaces = (key: string, value: unknown) => (key === 'interfaces' ? undefined : value);

/** All that steps change, whatever the order: how a node runs and what is captured they do not. */
export async function topologyOf(ask: AskProject): Promise<readonly string[][]> {
  const lists = await Promise.all(['nodes', 'links', 'drawings'].map((list) => ask(`GET /${list}`)));
  return lists.map((list) => (list as object[]).map((each) => JSON.stringify({ ...each, ...left }, withoutInterfaces)).sort());
}

export class UndoWalk {
  readonly #ask: AskProject;
  readonly #chance: Chance;
  readonly #kinds: readonly string[];
  /** The topology after each step, the first before any. */
  readonly #states: (readonly string[][])[] = [];
  /** Steps that are not undone. */
  #done = 0;

  constructor(ask: AskProject, chance: Chance, kinds: readonly string[]) {
    this.#ask = ask;
    this.#chance = chance;
    this.#kinds = kinds;
  }

  async begin(): Promise<void> {
    this.#states.push(await topologyOf(this.#ask));
  }

  /** A step that changes the project, or starts or stops a node, which is none. */
  async step(): Promise<void> {
    const before = await this.#undoable();
    await this.#attempt();
    if ((await this.#undoable()) === before) return;
    this.#states.length = this.#done + 1;
    this.#states.push(await topologyOf(this.#ask));
    this.#done += 1;
  }

  get undoable(): number {
    return this.#done;
  }

  get redoable(): number {
    return this.#states.length - 1 - this.#done;
  }

  async undo(): Promise<void> {
    await this.#ask('POST /undo');
    this.#done -= 1;
    await this.expectSame(`undo to ${this.#done}`);
  }

  async redo(): Promise<void> {
    await this.#ask('POST /redo');
    this.#done += 1;
    await this.expectSame(`redo to ${this.#done}`);
  }

  /** Undoes so many steps in one request. */
  async undoMany(count: number): Promise<void> {
    const { undoable } = (await this.#ask('GET /history?limit=1000')) as History;
    await this.#ask('POST /undo', { until: undoable[count] ?? 0 });
    this.#done -= count;
    await this.expectSame(`undo until ${this.#done}`);
  }

  /** The topology is that after the last step that is not undone. */
  async expectSame(what: string): Promise<void> {
    assert.deepEqual(await topologyOf(this.#ask), this.#states[this.#done], `${what}, seed ${this.#chance.seed}`);
  }

  async #undoable(): Promise<number | null> {
    return ((await this.#ask('GET /history')) as History).undo;
  }

  async #attempt(): Promise<void> {
    const steps = [
      ...[this.#addNode, this.#addNode, this.#addLink, this.#addLink, this.#addLink, this.#addDrawing, this.#bulk],
      ...[
        this.#change,
        this.#move,
        this.#filter,
        this.#mirror,
        this.#lock,
        this.#set,
        this.#rewire,
        this.#deleteNode,
        this.#deleteLink,
        this.#deleteDrawing,
        this.#deleteAll,
      ],
      ...[this.#run, this.#run],
    ];
    await this.#chance.pick(steps)?.call(this);
  }

  async #nodes(): Promise<NodeObject[]> {
    return (await this.#ask('GET /nodes')) as NodeObject[];
  }

  #newNode(): object {
    return { name: 'N{0}', node_type: this.#chance.pick(this.#kinds), compute_id: 'local', x: this.#chance.between(-500, 500) };
  }

  async #addNode(): Promise<void> {
    await this.#ask('POST /nodes', this.#newNode());
  }

  async #bulk(): Promise<void> {
    const nodes = Array.from({ length: this.#chance.between(2, 5) }, () => this.#newNode());
    await this.#ask('POST /bulk', { nodes, drawings: [{ svg: '<svg/>' }] });
  }

  async #addLink(): Promise<void> {
    const free = await this.#freePorts();
    const one = this.#chance.pick(free);
    const other = this.#chance.pick(free.filter((port) => one && fits(one, port)));
    if (!one || !other) return;
    const link = this.#ask('POST /links', { nodes: [one.end, other.end] });
    // This host may lack the device of a cloud's port: then nothing changed.
    if ([one, other].some(({ node_type }) => node_type === 'cloud')) await link.catch(() => undefined);
    else await link;
  }

  /** Moves one end to another port. */
  async #rewire(): Promise<void> {
    const link = this.#chance.pick((await this.#ask('GET /links')) as LinkObject[]);
    const [kept] = link?.nodes ?? [];
    const node = (await this.#nodes()).find(({ node_id }) => node_id === kept?.node_id);
    if (!link || !kept || !node) return;
    const same = { node_type: node.node_type, end: kept };
    const to = this.#chance.pick((await this.#freePorts()).filter((port) => port.node_type !== 'cloud' && fits(same, port)));
    if (to) await this.#ask(`PUT /links/${link.link_id}/ends`, { nodes: [kept, to.end] });
  }

  async #freePorts(): Promise<FreePort[]> {
    const links = (await this.#ask('GET /links')) as LinkObject[];
    const mirrors = (await this.#ask('GET /mirrors')) as LinkObject['nodes'];
    const taken = new Set(
      [...links.flatMap(({ nodes }) => nodes), ...mirrors].map((end) => `${end.node_id}/${end.adapter_number}/${end.port_number}`),
    );
    return (await this.#nodes()).flatMap(({ node_id, node_type, ports }) =>
      ports
        .filter(({ link_type }) => link_type === 'ethernet')
        .map(({ adapter_number, port_number }) => ({ node_type, end: { node_id, adapter_number, port_number } }))
        .filter(({ end }) => !taken.has(`${end.node_id}/${end.adapter_number}/${end.port_number}`)),
    );
  }

  async #addDrawing(): Promise<void> {
    await this.#ask('POST /drawings', { svg: `<svg>${'z'.repeat(this.#chance.between(0, 2000))}</svg>` });
  }

  async #change(): Promise<void> {
    const node = this.#chance.pick(await this.#nodes());
    if (node)
      await this.#ask(`PUT /nodes/${node.node_id}`, { name: `R${this.#chance.between(1, 1e6)}`, x: this.#chance.between(0, 99) });
  }

  async #move(): Promise<void> {
    const drawings = await this.#drawings();
    const to = () => ({ x: this.#chance.between(-900, 900), y: this.#chance.between(-900, 900) });
    const nodes = (await this.#nodes()).map(({ node_id }) => ({ node_id, ...to() }));
    await this.#ask('PUT /bulk', { nodes, drawings: drawings.map(({ drawing_id }) => ({ drawing_id, ...to() })) });
  }

  async #filter(): Promise<void> {
    const link = this.#chance.pick((await this.#ask('GET /links')) as LinkObject[]);
    if (link) await this.#ask(`PUT /links/${link.link_id}`, { suspend: this.#chance.next() < 0.5 });
  }

  /** Sends the frames of a link to a port as well, or to none any more. */
  async #mirror(): Promise<void> {
    const link = this.#chance.pick((await this.#ask('GET /links')) as LinkObject[]);
    if (!link) return;
    const others = (await this.#freePorts()).filter(({ end }) => link.nodes.every(({ node_id }) => node_id !== end.node_id));
    const to = this.#chance.next() < 0.3 ? undefined : this.#chance.pick(others);
    // Some kinds of ends mirror nothing, and there may be no mirror to remove: then nothing changed.
    const request = to ? this.#ask(`PUT /links/${link.link_id}/mirror`, to.end) : this.#ask(`DELETE /links/${link.link_id}/mirror`);
    await request.catch(() => undefined);
  }

  /** Locks a node or a drawing, or unlocks it: locked ones cannot be deleted. */
  async #lock(): Promise<void> {
    const [node, drawing] = [this.#chance.pick(await this.#nodes()), this.#chance.pick(await this.#drawings())];
    if (node) await this.#ask(`PUT /nodes/${node.node_id}`, { locked: !node.locked });
    else if (drawing) await this.#ask(`PUT /drawings/${drawing.drawing_id}`, { locked: !drawing.locked });
  }

  async #set(): Promise<void> {
    await this.#ask('PUT ', { variables: [{ name: 'walked', value: String(this.#chance.between(1, 1e6)) }] });
  }

  async #drawings(): Promise<DrawingObject[]> {
    return (await this.#ask('GET /drawings')) as DrawingObject[];
  }

  async #deleteNode(): Promise<void> {
    const node = this.#chance.pick((await this.#nodes()).filter(({ locked }) => !locked));
    if (node) await this.#ask(`DELETE /nodes/${node.node_id}`);
  }

  async #deleteLink(): Promise<void> {
    const link = this.#chance.pick((await this.#ask('GET /links')) as LinkObject[]);
    if (link) await this.#ask(`DELETE /links/${link.link_id}`);
  }

  async #deleteDrawing(): Promise<void> {
    const drawing = this.#chance.pick((await this.#drawings()).filter(({ locked }) => !locked));
    if (drawing) await this.#ask(`DELETE /drawings/${drawing.drawing_id}`);
  }

  /** About a third of everything. */
  async #deleteAll(): Promise<void> {
    const some = async <K extends string>(list: string, id: K) =>
      ((await this.#ask(`GET /${list}`)) as (Record<K, string> & { readonly locked?: boolean })[])
        .filter(({ locked }) => locked !== true && this.#chance.next() < 0.3)
        .map((each) => each[id]);
    const [nodes, links] = [await some('nodes', 'node_id'), await some('links', 'link_id')];
    await this.#ask('POST /bulk/delete', { nodes, links, drawings: await some('drawings', 'drawing_id') });
  }

  /** Starts or stops a node of a kind that can be started here without an image. */
  async #run(): Promise<void> {
    const node = this.#chance.pick((await this.#nodes()).filter(({ node_type }) => node_type === 'vpcs'));
    if (node) await this.#ask(`POST /nodes/${node.node_id}/${this.#chance.next() < 0.7 ? 'start' : 'stop'}`);
  }
}

/** Walks for this number of steps, with undo and redo between; then undoes all, one by one and many at once, and redoes all. */
export async function walk(steps: UndoWalk, chance: Chance, count: number): Promise<void> {
  await steps.begin();
  for (let n = 0; n < count; n++) {
    const what = chance.next();
    if (what < 0.15 && steps.undoable > 0) await steps.undo();
    else if (what < 0.25 && steps.redoable > 0) await steps.redo();
    else await steps.step();
  }
  while (steps.redoable > 0) await steps.redo();
  const all = steps.undoable;
  for (let round = 0; round < 2; round++) {
    while (steps.undoable > 0) await steps.undo();
    for (let n = 0; n < all; n++) await steps.redo();
  }
  // Undone are all of them in one request, and in a few.
  for (const most of [all, Math.ceil(all / 3)]) {
    while (steps.undoable > 0) await steps.undoMany(Math.min(most, steps.undoable));
    for (let n = 0; n < all; n++) await steps.redo();
  }
}
