/** A node of an open project. Its object is frozen and replaced on change. */
import { isDeepStrictEqual } from 'node:util';
import { fault, isFault } from '../../../api/faults.ts';
import type { Port } from '../../../schema/node.ts';
import type { RunFacts } from '../../../schema/node-runs.ts';
import { notStartedMark, unusableMark } from '../../../schema/problem-marks.ts';
import type { ComputeTransport, RegisteredCompute } from '../../computes/compute.ts';
import { assemble } from '../../model/canonical.ts';
import {
  type ComputeNodeObject,
  createBody,
  merge,
  mergeLive,
  type NodeLive,
  type NodeObject,
  portsOf,
  unknownLive,
} from '../../model/node.ts';
import { withNamedImages } from '../../model/node-images.ts';
import type { NodeEntry } from '../../model/topology.ts';
import { notWanted, type WantedRun } from '../../model/wanted.ts';
import {
  type FailedMove,
  type FailedStart,
  type NodeWait,
  type SeenRunning,
  sayWaiting,
  type WaitCause,
  waitingFor,
} from './waiting.ts';

/** Booting, and shutting down politely, may take this long. Milliseconds. */
const actionTimeoutMs = 240_000;
/** Making a node may copy images. Milliseconds. */
const createTimeoutMs = 1_200_000;

/** Most readings of a node whose state changes all the time. */
const mostLooks = 5;

/** Fields of a node that its ports depend on. */
const portFields = ['properties', 'custom_adapters', 'first_port_name', 'port_name_format', 'port_segment_size'] as const;

export interface NodePort {
  readonly adapter: number;
  readonly port: number;
}

export class OpenNode {
  readonly projectId: string;
  /** Undefined while its compute is not registered. */
  compute: RegisteredCompute | undefined;
  #entry: NodeEntry;
  #live: NodeLive;
  #ports: readonly Port[];
  #object: NodeObject | undefined;
  /** Whether the node exists on its compute. False after it could not be made there when the project was opened. */
  isPresent = true;
  /** Whether it could not be made on its compute for a reason of the compute, which passes. */
  isUnmade = false;
  /** Wanted state of the node, as the log says. */
  wanted: WantedRun = notWanted;
  /** The start by which it runs and how its last run ended, as its compute reported last. Undefined: the compute has not reported. */
  run: RunFacts | undefined;
  /** The wanted state and the lease under which this server saw it run last. */
  seen: SeenRunning | undefined;
  /** The node is stopped for a move: nothing else starts it. */
  isLeaving = false;
  /** The node is moving to another compute, which may take minutes: the project's gate cannot be held until the node has arrived. */
  isMoving = false;
  failedStart: FailedStart | undefined;
  failedMove: FailedMove | undefined;
  #problem: string | undefined;
  #waitCause: WaitCause | undefined;
  #waiting: NodeWait | undefined;

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

  /** Why the node cannot be used on its compute; undefined when it can. */
  get problem(): string | undefined {
    return this.#problem;
  }

  set problem(problem: string | undefined) {
    this.#problem = problem;
    this.#wait();
  }

  /** Why the node does not run as it is wanted, or stays on a compute that it has to leave. */
  get waitCause(): WaitCause | undefined {
    return this.#waitCause;
  }

  set waitCause(cause: WaitCause | undefined) {
    this.#waitCause = cause;
    this.#wait();
  }

  /** Why the node cannot be used, does not run, or has to leave; undefined: none of these. */
  get waiting(): NodeWait | undefined {
    return this.#waiting;
  }

  #wait(): void {
    const problem = this.#problem === undefined ? undefined : { reason: this.#problem, attempts: 0 };
    this.#waiting = waitingFor(this.#waitCause ?? problem, this.#waiting);
    this.#object = undefined;
  }

  /** Explanation for people: why the node cannot be used, or does not run although it is to; undefined when neither is so. */
  get shownProblem(): string | undefined {
    const isShown = this.#problem !== undefined || this.#live.status === 'stopped';
    return isShown && this.#waiting ? sayWaiting(this.#waiting) : undefined;
  }

  get object(): NodeObject {
    const { interrupted: _interrupted, ...live } = this.#live;
    const mark = this.#problem === undefined ? notStartedMark : unusableMark;
    this.#object ??= assemble<NodeObject>({
      ...this.#entry,
      ...live,
      ...(this.shownProblem !== undefined && { command_line: `${mark}${this.shownProblem}` }),
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
    if (live.status !== 'stopped')
      this.seen = { generation: this.wanted.generation, compute: this.compute, epoch: this.compute?.epoch };
    if (live === this.#live) return false;
    this.#live = live;
    this.#object = undefined;
    return true;
  }

  /** Returns the node's state after this answer of its compute, which may have been sent other properties. */
  merged(answer: ComputeNodeObject, sent: Readonly<Record<string, unknown>> = {}): { entry: NodeEntry; live: NodeLive } {
    return merge(this.#entry, this.#live, this.compute?.isLocal ? answer : withNamedImages(this.withProperties(sent), answer));
  }

  /**
   * Returns the node's state after a request: that of the answer, unless the compute has reported another status meanwhile. The report may
   * be newer, as the two use separate connections: then the state is read.
   */
  async stateAfter(
    ask: () => Promise<ComputeNodeObject | undefined>,
    sent: Readonly<Record<string, unknown>> = {},
  ): Promise<{ entry: NodeEntry; live: NodeLive }> {
    for (let looks = 1; ; looks++) {
      const before = this.#live;
      const answer = (looks === 1 ? await ask() : undefined) ?? (await this.read());
      const state = this.merged(answer, sent);
      const isOutdated = this.#live !== before && this.#live.status !== state.live.status;
      if (!isOutdated || looks === mostLooks) return state;
    }
  }

  withProperties(more: Readonly<Record<string, unknown>>): Pick<NodeEntry, 'node_type' | 'properties'> {
    const { node_type, properties } = this.#entry;
    return { node_type, properties: { ...properties, ...more } };
  }

  mergeLive(answer: ComputeNodeObject): boolean {
    return this.setLive(mergeLive(this.#live, answer));
  }

  /** Makes it on its compute; a compute that has it already answers as it is. `contents`: of files that it gets. */
  async createOnCompute(contents: Readonly<Record<string, unknown>> = {}): Promise<ComputeNodeObject> {
    const path = { project_id: this.projectId };
    const body = createBody(this.#entry, contents);
    const made = await this.transport.call(`POST ${this.#nodes()}`, { path, body, timeoutMs: createTimeoutMs });
    this.isPresent = true;
    return made;
  }

  read(): Promise<ComputeNodeObject> {
    return this.transport.call(`GET ${this.route}`, this.request);
  }

  update(body: Record<string, unknown>): Promise<ComputeNodeObject> {
    return this.transport.call(`PUT ${this.route}`, { ...this.request, body });
  }

  /** A node that does not exist there is no error. `keepFiles`: for a limited time, so that the node can be restored with its files. */
  async deleteOnCompute({ keepFiles = false } = {}): Promise<void> {
    const body = keepFiles ? { keep_files: true } : {};
    await this.transport.send(`DELETE ${this.route}`, { ...this.request, body }).catch(unlessMissing);
  }

  /** @throws compute_not_found */
  get transport(): ComputeTransport {
    return this.requireCompute().transport;
  }

  /** Key of the node's routes at its compute, to be completed by a method and what is asked. */
  get route() {
    return `${this.#nodes()}/{node_id}` as const;
  }

  /** Parameters of `route`, and a time limit for what takes long. */
  get request() {
    return { path: { project_id: this.projectId, node_id: this.id }, timeoutMs: actionTimeoutMs };
  }

  /** Key of the routes of one of its ports. */
  get portRoute() {
    return `${this.route}/adapters/{adapter_number}/ports/{port_number}` as const;
  }

  /** Parameters of `portRoute`. */
  portRequest({ adapter, port }: NodePort) {
    return { path: { ...this.request.path, adapter_number: adapter, port_number: port } };
  }

  /** Path of the node at its compute. */
  get address(): string {
    return `/v2/compute/projects/${this.projectId}/${this.#entry.node_type}/nodes/${this.id}`;
  }

  #nodes() {
    return `/v2/compute/projects/{project_id}/${this.#entry.node_type}/nodes` as const;
  }
}

export function unlessMissing(error: unknown): void {
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
