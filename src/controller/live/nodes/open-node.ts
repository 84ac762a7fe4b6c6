/** A node of an open project. Its object is frozen and replaced on change. */
import { isDeepStrictEqual } from 'node:util';
import { fault, isFault } from '../../../api/faults.ts';
import type { RouteKey } from '../../../api/route.ts';
import type { Join, RawAnswer } from '../../../api/transport.ts';
import type { Port } from '../../../schema/node.ts';
import type { RegisteredCompute } from '../../computes/compute.ts';
import { assemble } from '../../model/canonical.ts';
import {
  type ComputeNodeObject,
  merge,
  mergeLive,
  type NodeLive,
  type NodeObject,
  portsOf,
  unknownLive,
} from '../../model/node.ts';
import type { NodeEntry } from '../../model/topology.ts';

/** Booting, and shutting down politely, may take this long. Milliseconds. */
export const actionTimeoutMs = 240_000;
/** Making a node may copy images. Milliseconds. */
const createTimeoutMs = 1_200_000;

/** What the ports of a node follow from. */
const portFields = ['properties', 'custom_adapters', 'first_port_name', 'port_name_format', 'port_segment_size'] as const;

export class OpenNode {
  readonly projectId: string;
  /** Undefined while its compute is not registered. */
  compute: RegisteredCompute | undefined;
  #entry: NodeEntry;
  #live: NodeLive;
  #ports: readonly Port[];
  #object: NodeObject | undefined;
  /** It exists on its compute. False after it could not be made there when the project was opened. */
  isPresent = true;
  #problem: string | undefined;

  constructor(projectId: string, compute: RegisteredCompute | undefined, entry: NodeEntry, live: NodeLive = unknownLive) {
    this.projectId = projectId;
    this.compute = compute;
    this.#entry = entry;
    this.#live = live;
    this.#ports = portsOf(entry);
  }

  get id(): string {
    return this.#entry.node_id;
  }

  get entry(): NodeEntry {
    return this.#entry;
  }

  get live(): NodeLive {
    return this.#live;
  }

  /** Why it cannot be used, for people; undefined when it can. Clients see it where its command line would be. */
  get problem(): string | undefined {
    return this.#problem;
  }

  set problem(problem: string | undefined) {
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.#object = undefined;
  }

  get object(): NodeObject {
    this.#object ??= assemble<NodeObject>({
      ...this.#entry,
      ...this.#live,
      ...(this.#problem !== undefined && { command_line: `Not usable: ${this.#problem}` }),
      console_host: this.compute?.consoleHost ?? '',
      ports: this.#ports as Port[],
      project_id: this.projectId,
    });
    return this.#object;
  }

  /** The ports that it will have with this entry; made anew only when something they follow from is another. @throws `node_name_format` */
  portsWith(entry: NodeEntry): readonly Port[] {
    const before = this.#entry;
    return portFields.every((field) => isDeepStrictEqual(entry[field], before[field])) ? this.#ports : portsOf(entry);
  }

  /** @throws `compute_not_found` */
  requireCompute(): RegisteredCompute {
    if (!this.compute) throw fault('compute_not_found', { compute_id: this.#entry.compute_id });
    return this.compute;
  }

  findPort(adapter: number, port: number): Port | undefined {
    return this.#ports.find((candidate) => candidate.adapter_number === adapter && candidate.port_number === port);
  }

  setEntry(entry: NodeEntry): void {
    if (entry === this.#entry) return;
    this.#ports = this.portsWith(entry);
    this.#entry = entry;
    this.#object = undefined;
  }

  /** Whether anything is different now. */
  setLive(live: NodeLive): boolean {
    if (live === this.#live) return false;
    this.#live = live;
    this.#object = undefined;
    return true;
  }

  /** What it would be after this answer of its compute. */
  merged(answer: ComputeNodeObject): { entry: NodeEntry; live: NodeLive } {
    return merge(this.#entry, this.#live, answer);
  }

  mergeLive(answer: ComputeNodeObject): boolean {
    return this.setLive(mergeLive(this.#live, answer));
  }

  /** Makes it on its compute; a compute that has it already answers as it is. */
  async createOnCompute(body: Record<string, unknown>): Promise<ComputeNodeObject> {
    const key: RouteKey = `POST /v2/compute/projects/{project_id}/${this.#entry.node_type}/nodes`;
    const path = { project_id: this.projectId };
    const answer = await this.#transport().call<ComputeNodeObject>(key, { path, body, timeoutMs: createTimeoutMs });
    this.isPresent = true;
    return answer.body;
  }

  read(): Promise<ComputeNodeObject> {
    return this.#call('GET', '');
  }

  update(body: Record<string, unknown>): Promise<ComputeNodeObject> {
    return this.#call('PUT', '', body);
  }

  /** One that is not there is no error. `keepFiles`: for a while, if the compute can, so that the node may come back with them. */
  async deleteOnCompute({ keepFiles = false } = {}): Promise<void> {
    await this.#call('DELETE', '', keepFiles ? { keep_files: true } : {}).catch(unlessMissing);
  }

  /** Has the compute put the files in place that it kept; nothing happens when it has none. */
  async restoreFiles(): Promise<void> {
    await this.#call('POST', '/restore_files').catch(unlessMissing);
  }

  /** `start`, `stop`, `console/reset` and the like; some answer with the node. */
  act(verb: string, body: unknown = {}): Promise<ComputeNodeObject | undefined> {
    return this.#call('POST', `/${verb}`, body);
  }

  /** What only nodes of its kind have. @throws `compute_route_missing` for other kinds */
  ask<T>(method: 'GET' | 'DELETE', what: string): Promise<T> {
    return this.#call(method, `/${what}`);
  }

  /** Its console, as the compute offers it. @throws why the compute refuses; `compute_route_missing` for kinds without a console */
  console(signal: AbortSignal): Promise<Join> {
    const way = `/v2/compute/projects/${this.projectId}/${this.#entry.node_type}/nodes/${this.id}/console/ws`;
    return this.#transport().socket(way, signal);
  }

  /** A request about one of its ports. */
  async portCall<T>(
    method: 'POST' | 'PUT' | 'DELETE',
    verb: string,
    end: { adapter: number; port: number; capture_id?: string },
    body: unknown = {},
  ): Promise<T> {
    const way = `/adapters/{adapter_number}/ports/{port_number}/${verb}`;
    const { adapter: adapter_number, port: port_number, ...more } = end;
    const path = { ...this.#path(), adapter_number, port_number, ...more };
    return (await this.#transport().call<T>(`${method} ${this.#base()}${way}`, { path, body })).body;
  }

  /** What one of its ports sends without end. */
  portStream(verb: string, end: { adapter: number; port: number }): Promise<RawAnswer> {
    const node = `/v2/compute/projects/${this.projectId}/${this.#entry.node_type}/nodes/${this.id}`;
    return this.#transport().raw('GET', `${node}/adapters/${end.adapter}/ports/${end.port}/${verb}`);
  }

  async #call<T>(method: 'GET' | 'POST' | 'PUT' | 'DELETE', way: string, body: unknown = {}): Promise<T> {
    const timeoutMs = actionTimeoutMs;
    const answer = await this.#transport().call<T>(`${method} ${this.#base()}${way}`, { path: this.#path(), body, timeoutMs });
    return answer.body;
  }

  #base(): `/${string}` {
    return `/v2/compute/projects/{project_id}/${this.#entry.node_type}/nodes/{node_id}`;
  }

  #path(): { project_id: string; node_id: string } {
    return { project_id: this.projectId, node_id: this.id };
  }

  #transport(): RegisteredCompute['transport'] {
    return this.requireCompute().transport;
  }
}

function unlessMissing(error: unknown): void {
  if (!isFault(error) || error.status !== 404) throw error;
}

/** Ports that links are on must stay. @throws `port_taken` */
export function checkPortsStay(node: OpenNode, wanted: NodeEntry, ends: readonly { adapter: number; port: number }[]): void {
  const ports = node.portsWith(wanted);
  for (const end of ends) {
    const isThere = ports.some((port) => port.adapter_number === end.adapter && port.port_number === end.port);
    if (!isThere && node.findPort(end.adapter, end.port)) {
      throw fault('port_taken', { adapter_number: end.adapter, port_number: end.port, name: node.entry.name });
    }
  }
}
