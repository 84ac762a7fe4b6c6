/**
 * Watches the open lab for findings, with the feeds that the page has: nodes, links, their figures. Only PCs are asked for their
 * configuration: once they run, and again after frames passed at them, as one that takes an address sends frames.
 */
import { effect, type ReadonlySignal, signal } from '@preact/signals';
import type { LinkStats } from '../../../src/schema/link-stats.ts';
import type { NodeProbeAnswer } from '../../../src/schema/pc-probe.ts';
import { problemIn } from '../../../src/schema/problem-marks.ts';
import { ApiError } from '../../api.ts';
import type { App } from '../../state/app.ts';
import { isPc } from '../../state/pcs.ts';
import type { ProjectState } from '../../state/project.ts';
import { lacksImage } from '../lacks-image.ts';
import { decideFindings, type InspectedHost, type InspectedLab, type LabFinding } from './findings.ts';
import { type LinkRecord, nextRecord } from './link-record.ts';

const everyMs = 1000;
/** Pause between two questions to a PC. */
const askAgainMs = 10_000;
/** Most PCs that are asked in a round. */
const askedAtOnce = 20;

export class LabWatch {
  readonly #findings = signal<readonly LabFinding[]>([]);
  readonly #app: App;
  readonly #project: ProjectState;
  readonly #records = new Map<string, LinkRecord>();
  readonly #hosts = new Map<string, InspectedHost>();
  /** PCs to ask again, and when each was asked last. */
  readonly #due = new Set<string>();
  readonly #askedMs = new Map<string, number>();
  readonly #dismissed = new Set<string>();
  #found: readonly LabFinding[] = [];
  readonly #ends: (() => void)[];
  #mayAsk = true;
  #isAsking = false;
  #isChanged = true;

  constructor(app: App, project: ProjectState) {
    this.#app = app;
    this.#project = project;
    const timer = setInterval(() => this.#look(), everyMs);
    this.#ends = [
      () => clearInterval(timer),
      project.traffic.listen((stats) => this.#take(stats)),
      effect(() => {
        void [project.nodes.all.value, project.links.all.value, project.traffic.storms.value, project.work.failures.value];
        this.#isChanged = true;
      }),
    ];
  }

  /** Findings that the user has not dismissed. */
  get findings(): ReadonlySignal<readonly LabFinding[]> {
    return this.#findings;
  }

  close(): void {
    for (const end of this.#ends) end();
  }

  /** Hides a finding until it has ended. */
  dismiss(key: string): void {
    this.#dismissed.add(key);
    this.#show();
  }

  #take(stats: LinkStats): void {
    const link = this.#project.links.peek(stats.link_id);
    if (!link) return;
    const filters = JSON.stringify(link.filters);
    const record = nextRecord(this.#records.get(link.link_id), stats, { filters, nowMs: Date.now() });
    if (record) this.#records.set(link.link_id, record);
    else this.#records.delete(link.link_id);
    for (const { node_id } of link.nodes) if (this.#askedMs.has(node_id)) this.#due.add(node_id);
    this.#isChanged = true;
  }

  #look(): void {
    const { nodes, links } = this.#project;
    for (const id of this.#records.keys()) if (!links.peek(id)) this.#records.delete(id);
    for (const id of this.#askedMs.keys()) if (nodes.peek(id)?.status !== 'started') this.#forget(id);
    if (!document.hidden) void this.#ask();
    if (!this.#isChanged) return;
    this.#isChanged = false;
    // Figures stay as they were when the finding was made: a screen reader would read each new one aloud.
    const before = new Map(this.#found.map((finding) => [finding.key, finding]));
    this.#found = decideFindings(this.#lab()).map((finding) => before.get(finding.key) ?? finding);
    const keys = new Set(this.#found.map(({ key }) => key));
    for (const key of this.#dismissed) if (!keys.has(key)) this.#dismissed.delete(key);
    this.#show();
  }

  #show(): void {
    const shown = this.#found.filter(({ key }) => !this.#dismissed.has(key));
    if (JSON.stringify(shown) !== JSON.stringify(this.#findings.peek())) this.#findings.value = shown;
  }

  #forget(nodeId: string): void {
    this.#due.delete(nodeId);
    this.#askedMs.delete(nodeId);
    if (this.#hosts.delete(nodeId)) this.#isChanged = true;
  }

  /** Asks some PCs that run, one after the other. */
  async #ask(): Promise<void> {
    if (this.#isAsking || !this.#mayAsk) return;
    this.#isAsking = true;
    const nowMs = performance.now();
    const isNext = (id: string) => {
      const askedMs = this.#askedMs.get(id);
      return askedMs === undefined || (this.#due.has(id) && nowMs - askedMs >= askAgainMs);
    };
    const running = this.#project.nodes.all.peek().filter((node) => isPc(node) && node.status === 'started');
    const next = running.filter(({ node_id }) => isNext(node_id)).slice(0, askedAtOnce);
    for (const { node_id } of next) await this.#askOne(node_id);
    this.#isAsking = false;
  }

  async #askOne(nodeId: string): Promise<void> {
    this.#askedMs.set(nodeId, performance.now());
    this.#due.delete(nodeId);
    try {
      const { addresses = [], mtu } = await this.#app.api.post<NodeProbeAnswer>(`${this.#project.path}/nodes/${nodeId}/probe`, {
        type: 'addresses',
      });
      this.#hosts.set(nodeId, { addresses, mtu });
    } catch (error) {
      // An account that may not ask is refused each time; a PC that stopped meanwhile is known by its status.
      if (error instanceof ApiError && error.status === 403) this.#mayAsk = false;
      this.#hosts.delete(nodeId);
    }
    this.#isChanged = true;
  }

  #lab(): InspectedLab {
    const { nodes, links, traffic, work } = this.#project;
    const { kinds } = this.#app.server;
    const storms = traffic.storms.peek();
    return {
      nodes: nodes.all.peek().map((node) => {
        const kind = kinds.peek().get(node.node_type);
        const failure = work.failures.peek().get(node.node_id) ?? problemIn(node.command_line);
        const lacks = failure !== undefined && lacksImage(node, failure, work.codes.get(node.node_id));
        return {
          id: node.node_id,
          properties: node.properties,
          isStarted: node.status === 'started',
          isMachine: kind?.emulator === true && !kind.always_running && !isPc(node),
          lacksImage: lacks ? failure : undefined,
        };
      }),
      links: links.all.peek().flatMap(({ link_id, nodes: [one, other], suspend, filters }) => {
        if (!one || !other) return [];
        const ends = [
          { node: one.node_id, port: one.port_number },
          { node: other.node_id, port: other.port_number },
        ] as const;
        return [{ id: link_id, ends, suspend, filters, record: this.#records.get(link_id), storm: storms.get(link_id) }];
      }),
      hosts: this.#hosts,
      nowMs: Date.now(),
    };
  }
}
