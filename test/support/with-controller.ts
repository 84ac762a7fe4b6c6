/** A controller with a project for tests, over a compute that only remembers (`in-memory-compute.ts` says why). */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { pino } from 'pino';
import { type FaultCode, isFault } from '../../src/api/faults.ts';
import { LocalTransport } from '../../src/api/local-transport.ts';
import type { Method } from '../../src/api/route.ts';
import { Controller } from '../../src/controller/controller.ts';
import type { Notice } from '../../src/controller/live/host/project-context.ts';
import type { NodeObject } from '../../src/controller/model/node.ts';
import { controllerRoutes } from '../../src/controller/routes/v2/routes.ts';
import type { Link } from '../../src/schema/link.ts';
import type { Settings } from '../../src/schema/settings.ts';
import { InMemoryCompute } from './in-memory-compute.ts';

export interface ProjectAnswer {
  readonly project_id: string;
  readonly name: string;
  readonly path: string;
  readonly filename: string;
  readonly status: string;
}

interface Parts {
  readonly folder: string;
  readonly compute: InMemoryCompute;
  readonly controller: Controller;
  readonly api: LocalTransport<unknown>;
  readonly project: ProjectAnswer;
}

export class ControllerBench {
  #parts: Parts | undefined;
  /** Notifications to listeners of the project since it was created, or since this was emptied. */
  seen: Notice[] = [];

  get compute(): InMemoryCompute {
    return this.#the.compute;
  }
  get controller(): Controller {
    return this.#the.controller;
  }
  get project(): ProjectAnswer {
    return this.#the.project;
  }
  get #the(): Parts {
    assert.ok(this.#parts);
    return this.#parts;
  }

  async setUp(): Promise<void> {
    const folder = await mkdtemp(join(tmpdir(), 'patchbay-controller-'));
    const compute = new InMemoryCompute();
    const started = await open(folder, compute);
    const project = await request<ProjectAnswer>(started.api, 'POST /projects', { name: 'the project' });
    this.#parts = { folder, compute, project, ...started };
    this.seen = [];
    started.controller.projects.get(project.project_id).notices.subscribe((notice) => this.seen.push(notice));
  }

  async tearDown(): Promise<void> {
    await this.controller.close();
    await rm(this.#the.folder, { recursive: true });
  }

  /** Another controller on the same files; `between` runs while there is none. */
  async restart(between: () => Promise<void> = async () => undefined): Promise<void> {
    await this.controller.close();
    await between();
    this.#parts = { ...this.#the, ...(await open(this.#the.folder, this.compute)) };
  }

  /** A request below `/v2`, with its body validated, as it would come over HTTP. */
  async ask<T>(wanted: string, body: unknown = {}): Promise<T> {
    const reply = await request<T>(this.#the.api, wanted, body);
    // The last notifications leave in the next turn on a busy machine.
    await turn();
    await turn();
    return reply;
  }

  inProject<T>(request: string, body?: unknown): Promise<T> {
    const [method, path = ''] = request.split(' ');
    return this.ask<T>(`${method} /projects/${this.project.project_id}${path}`, body);
  }

  addNode(name: string, more = {}): Promise<NodeObject> {
    return this.inProject<NodeObject>('POST /nodes', { name, node_type: 'vpcs', compute_id: 'local', ...more });
  }

  addLink(one: NodeObject, other: NodeObject, more = {}): Promise<Link> {
    return this.inProject<Link>('POST /links', { nodes: [end(one), end(other)], ...more });
  }

  actions(): string[] {
    return this.seen.map((notice) => notice.action);
  }
}

async function request<T>(api: LocalTransport<unknown>, wanted: string, body: unknown): Promise<T> {
  const [method, path = ''] = wanted.split(' ');
  const answer = await api.raw(method as Method, `/v2${path}`, Buffer.from(JSON.stringify(body)));
  assert.ok(answer.body instanceof Uint8Array);
  return answer.body.length === 0 ? (undefined as T) : JSON.parse(Buffer.from(answer.body).toString('utf8'));
}

/** Registers the hooks: every test has its own. */
export function withController(): ControllerBench {
  const bench = new ControllerBench();
  beforeEach(() => bench.setUp());
  afterEach(() => bench.tearDown());
  return bench;
}

export function end(node: NodeObject, port = 0) {
  return { node_id: node.node_id, adapter_number: 0, port_number: port };
}

export const refusal = (code: FaultCode) => (error: unknown) => isFault(error, code);

async function open(folder: string, compute: InMemoryCompute): Promise<Pick<Parts, 'api' | 'controller'>> {
  const paths = {
    configs_path: folder,
    symbols_path: join(folder, 'symbols'),
    appliances_path: join(folder, 'appliances'),
    projects_path: join(folder, 'projects'),
  };
  const Server = {
    host: '127.0.0.1',
    port: 3080,
    local: true,
    user: '',
    enable_builtin_templates: true,
    auto_close_grace: 5,
    ...paths,
  };
  const settings = {
    Server,
    Cluster: { lease_seconds: 20, engine: '', join_url: '' },
    dataDirectory: folder,
  } as unknown as Settings;
  const controller = await Controller.open({
    settings,
    log: pino({ level: 'silent' }),
    version: '2.2.60',
    compute,
    end: () => undefined,
  });
  const capabilities = { version: null, node_types: [] };
  return {
    controller,
    api: new LocalTransport<unknown>({ routes: controllerRoutes(controller), events: compute.events, capabilities }),
  };
}
