/**
 * A compute that only stores its configuration, for tests of the controller alone. The real one runs emulators; these tests check
 * what the controller does when a compute refuses, and that nothing is left behind, which the real one cannot be made to do at
 * will.
 */
import { fault } from '../../src/api/faults.ts';
import { type Route, type RouteKey, route } from '../../src/api/route.ts';
import type { ComputeEvent } from '../../src/api/transport.ts';
import { EventStream } from '../../src/lib/event-stream.ts';

type Fields = Record<string, unknown>;
interface Path {
  readonly [name: string]: string;
}

export class InMemoryCompute {
  readonly events = new EventStream<ComputeEvent>();
  readonly projects = new Set<string>();
  readonly nodes = new Map<string, Fields>();
  /** Nodes whose files are among those of deleted nodes. */
  readonly kept = new Set<string>();
  /** `node/adapter/port` to NIO. */
  readonly nios = new Map<string, Fields>();
  /** Keys of the requests that came, in order, without `/v2/compute`. */
  readonly calls: string[] = [];
  /** Requests that are refused: `POST …/nio`, or whatever the key ends with. */
  readonly refused = new Set<string>();
  /** Whether there is no space for what a request changes. */
  isFull: (short: string, path: Readonly<Record<string, string>>) => boolean = () => false;
  /** Nodes end as soon as they are started, which is reported before the answer to the start arrives. */
  areShortLived = false;
  udpPort = 20_000;
  #console = 5_000;

  routes(): Route[] {
    const project = '/v2/compute/projects/{project_id}';
    return [
      this.#route('GET /v2/compute/capabilities', () => ({
        version: '2.2.60',
        node_types: ['vpcs', 'qemu'],
        platform: 'linux',
        link_streams: true,
      })),
      this.#route('POST /v2/compute/projects', (_path, body) => {
        this.projects.add(String(body.project_id));
        return body;
      }),
      this.#route(`PUT ${project}`, () => ({})),
      this.#route(`POST ${project}/close`, () => {
        this.projects.clear();
        this.nodes.clear();
        this.nios.clear();
      }),
      this.#route(`POST ${project}/ports/udp`, () => ({ udp_port: this.udpPort++ })),
      ...['vpcs', 'qemu'].flatMap((type) => this.#nodeRoutes(`${project}/${type}/nodes`)),
    ];
  }

  /** A node changes without a request. */
  tell(nodeId: string, fields: Fields): void {
    const node = { ...this.nodes.get(nodeId), ...fields };
    this.nodes.set(nodeId, node);
    this.events.emit({ action: 'node.updated', event: node });
  }

  #nodeRoutes(nodes: `/v2/compute/${string}`): Route[] {
    const node = `${nodes}/{node_id}` as const;
    const nio = `${node}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}/nio` as const;
    const end = (path: Path) => `${path.node_id}/${path.adapter_number}/${path.port_number}`;
    const setStatus = (path: Path, status: string) => {
      this.#get(path);
      this.tell(String(path.node_id), { status });
      return this.#get(path);
    };
    return [
      this.#route(`POST ${nodes}`, (path, body) => this.#create(path, body)),
      this.#route(`GET ${node}`, (path) => this.#get(path)),
      this.#route(`PUT ${node}`, (path, body) => {
        this.nodes.set(String(path.node_id), { ...this.#get(path), ...body });
        return this.#get(path);
      }),
      this.#route(`DELETE ${node}`, (path, body) => {
        this.#get(path);
        if (body.keep_files) this.kept.add(String(path.node_id));
        else this.kept.delete(String(path.node_id));
        this.nodes.delete(String(path.node_id));
        this.events.emit({ action: 'node.deleted', event: { node_id: path.node_id, project_id: path.project_id } });
      }),
      this.#route(`POST ${node}/restore_files`, (path) => {
        this.#get(path);
        this.kept.delete(String(path.node_id));
      }),
      this.#route(`POST ${node}/start`, (path) => {
        const started = setStatus(path, 'started');
        if (this.areShortLived) setStatus(path, 'stopped');
        return started;
      }),
      this.#route(`POST ${node}/stop`, (path) => setStatus(path, 'stopped')),
      this.#route(`POST ${nio}`, (path, body) => {
        this.nios.set(end(path), body);
      }),
      this.#route(`PUT ${nio}`, (path, body) => {
        const nio = this.nios.get(end(path));
        if (!nio) throw fault('nio_missing', { adapter_number: 0, port_number: 0, name: 'x' });
        const { lport, rhost, rport } = nio;
        // A change leaves the addresses.
        this.nios.set(end(path), { ...body, lport, rhost, rport });
      }),
      this.#route(`DELETE ${nio}`, (path) => {
        this.nios.delete(end(path));
      }),
      this.#route('POST /v2/compute/projects/{project_id}/links/hold', () => undefined),
      this.#route('POST /v2/compute/projects/{project_id}/links/release', () => undefined),
    ];
  }

  #create(path: Path, body: Fields): Fields {
    const { project_id = '' } = path;
    if (!this.projects.has(project_id)) throw fault('project_not_found', { project_id });
    const nodeId = String(body.node_id);
    const known = this.nodes.get(nodeId);
    if (known) return known;
    const node = {
      console: this.#console++,
      command_line: '',
      node_directory: `/x/${nodeId}`,
      project_id: path.project_id,
      status: 'stopped',
    };
    this.nodes.set(nodeId, { ...node, console_type: 'telnet', ...body });
    return this.#get({ node_id: nodeId });
  }

  #get(path: Path): Fields {
    const node = this.nodes.get(String(path.node_id));
    if (!node) throw fault('node_not_found', { node_id: String(path.node_id) });
    return node;
  }

  #route(key: RouteKey, handle: (path: Path, body: Fields) => unknown): Route {
    return route(key, { right: 'open', summary: key }, async ({ path, body }) => {
      const short = key.replace('/v2/compute', '').replace(/:\\d\+/g, '');
      this.calls.push(short);
      // Answers of the real one take a moment, too.
      await new Promise(setImmediate);
      for (const end of this.refused)
        if (short.endsWith(end)) throw fault('node_failed', { name: 'x', reason: 'refused on purpose' });
      if (this.isFull(short, path as Path)) throw fault('storage_failed', { reason: 'no space left' });
      return handle(path as Path, (body ?? {}) as Fields);
    });
  }
}
