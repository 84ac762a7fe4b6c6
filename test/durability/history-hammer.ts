/** A client that undoes and redoes changes, including bulks, in its own project: each step is complete or absent. */
import { randomUUID } from 'node:crypto';
import type { RawClient } from '../support/raw-http.ts';
import { change, type Situation } from './hammer.ts';

interface State {
  /** Value of the project's variable. */
  readonly turn: number;
  /** Id to place. */
  readonly nodes: ReadonlyMap<string, readonly [number, number]>;
  /** Ids of both nodes. */
  readonly links: readonly (readonly [string, string])[];
}

/** Possible effects of a request without a response. */
interface Outcome {
  readonly state: State;
  readonly apply: () => void;
}

/** All of the project in one fact: between two steps there is nothing. */
const wholeKey = 'history';
/** Limit of undone steps: the server keeps only its last changes. */
const mostSteps = 20;
/** Facts of projects hold it; here it is constant. */
const initialZoom = 100;

export class HistoryHammer {
  readonly #situation: Situation;
  readonly #project: { readonly id: string; readonly path: string; readonly name: string };
  #now: State = { turn: 0, nodes: new Map(), links: [] };
  #past: State[] = [];
  #future: State[] = [];
  #unanswered: readonly Outcome[] = [];
  client: RawClient;
  count = 0;

  constructor(situation: Situation, client: RawClient, project: { id: string; path: string; name: string }) {
    this.#situation = situation;
    this.#project = project;
    this.client = client;
    situation.facts.done(this.#factsOf(this.#now));
  }

  async run(): Promise<void> {
    const shown = this.#situation.facts.value(wholeKey);
    this.#unanswered.find(({ state }) => textOf(state) === shown)?.apply();
    this.#unanswered = [];
    while (await this.#step()) this.count += 1;
  }

  /** State that the server shows, in the form of facts. */
  async read(client: RawClient): Promise<[string, string]> {
    const { path } = this.#project;
    const [{ variables }, nodes, links] = await Promise.all([
      client.get<{ variables: { value: string }[] | null }>(path),
      client.get<{ node_id: string; x: number; y: number }[]>(`${path}/nodes`),
      client.get<{ nodes: { node_id: string }[] }[]>(`${path}/links`),
    ]);
    const state = {
      turn: Number(variables?.[0]?.value ?? 0),
      nodes: new Map(nodes.map(({ node_id, x, y }) => [node_id, [x, y] as const])),
      links: links.map((link) => link.nodes.map(({ node_id }) => node_id) as [string, string]),
    };
    return [wholeKey, textOf(state)];
  }

  #step(): Promise<boolean> {
    const { chance } = this.#situation;
    const roll = chance.next();
    if (roll < 0.35 && this.#past.length > 0) return this.#undo();
    if (roll < 0.6 && this.#future.length > 0) return this.#redo();
    const node = chance.pick([...this.#now.nodes.keys()]);
    if (node === undefined || (roll < 0.75 && this.#now.nodes.size < 9)) return this.#bulk();
    if (roll < 0.85) return this.#delete(node);
    if (roll < 0.9) return this.#setVariable();
    return this.#move(node);
  }

  #bulk(): Promise<boolean> {
    const { chance } = this.#situation;
    const made = Array.from({ length: 4 }, () => [randomUUID(), [chance.between(-500, 500), chance.between(-500, 500)]] as const);
    const [a, b, c, d] = made.map(([id]) => id) as [string, string, string, string];
    const end = (node_id: string) => ({ node_id, adapter_number: 0, port_number: 0 });
    const pairs = [[a, b] as const, [c, d] as const];
    const body = {
      nodes: made.map(([node_id, [x, y]]) => ({ node_id, name: `H${node_id}`, node_type: 'vpcs', compute_id: 'local', x, y })),
      links: pairs.map((pair) => ({ nodes: pair.map(end) })),
    };
    const { nodes, links } = this.#now;
    return this.#change('POST', '/bulk', body, { nodes: new Map([...nodes, ...made]), links: [...links, ...pairs] });
  }

  #delete(id: string): Promise<boolean> {
    const nodes = new Map(this.#now.nodes);
    nodes.delete(id);
    const links = this.#now.links.filter((pair) => !pair.includes(id));
    // A deletion is several lines of the log: after a kill in its midst, the node has lost its links. Without links that is no step.
    const halfway = links.length < this.#now.links.length ? { links } : undefined;
    return this.#change('DELETE', `/nodes/${id}`, undefined, { nodes, links }, halfway);
  }

  #move(id: string): Promise<boolean> {
    const { chance } = this.#situation;
    const [x, y] = [chance.between(-500, 500), chance.between(-500, 500)];
    return this.#change('PUT', `/nodes/${id}`, { x, y }, { nodes: new Map([...this.#now.nodes, [id, [x, y]]]) });
  }

  #setVariable(): Promise<boolean> {
    const turn = this.#now.turn + this.#situation.chance.between(1, 9);
    return this.#change('PUT', '', { variables: [{ name: 'TURN', value: String(turn) }] }, { turn });
  }

  /** A new step; `halfway` lists its possible states after a kill. */
  #change(method: string, way: string, body: unknown, to: Partial<State>, halfway?: Partial<State>): Promise<boolean> {
    const before = this.#now;
    const outcome = (changed: Partial<State>): Outcome => {
      const state = { ...before, ...changed };
      const apply = () => {
        this.#past = [...this.#past, before].slice(-mostSteps);
        this.#future = [];
        this.#now = state;
      };
      return { state, apply };
    };
    return this.#send(`${method} ${this.#project.path}${way}`, body, [outcome(to), ...(halfway ? [outcome(halfway)] : [])]);
  }

  #undo(): Promise<boolean> {
    const [now, state] = [this.#now, this.#past.at(-1) as State];
    const apply = () => {
      this.#past.pop();
      this.#future.push(now);
      this.#now = state;
    };
    return this.#send(`POST ${this.#project.path}/undo`, {}, [{ state, apply }]);
  }

  #redo(): Promise<boolean> {
    const [now, state] = [this.#now, this.#future.at(-1) as State];
    const apply = () => {
      this.#future.pop();
      this.#past.push(now);
      this.#now = state;
    };
    return this.#send(`POST ${this.#project.path}/redo`, {}, [{ state, apply }]);
  }

  async #send(line: string, body: unknown, outcomes: readonly [Outcome, ...Outcome[]]): Promise<boolean> {
    const [wanted, ...others] = outcomes;
    const ask = async () => {
      for (const { state } of others) this.#situation.facts.begin(this.#factsOf(state));
      const reply = await this.client.send(line, { body });
      if (reply.status < 300) wanted.apply();
      return reply;
    };
    const answered = await change(this.#situation, ask, this.#factsOf(wanted.state));
    if (!answered) this.#unanswered = outcomes;
    return answered;
  }

  #factsOf(state: State): Record<string, string> {
    const { id, name } = this.#project;
    return { [wholeKey]: textOf(state), [`project:${id}`]: JSON.stringify([name, initialZoom]) };
  }
}

function textOf({ turn, nodes, links }: State): string {
  return JSON.stringify([turn, [...nodes].sort(), links.map((pair) => pair.toSorted()).sort()]);
}
