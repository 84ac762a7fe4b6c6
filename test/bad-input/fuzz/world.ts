/** The fuzzer's knowledge of the server: ids that exist, ids that existed, and meaningful values. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Chance } from '../../durability/random.ts';
import { expectStatus, type RawClient } from '../../support/raw-http.ts';
import type { Schema, ValueSource } from './values.ts';
import { valueFor } from './values.ts';

type Item = Readonly<Record<string, unknown>>;
export interface Place {
  /** Empty for objects without a project. */
  readonly project: string;
  /** Type of a node. */
  readonly type: string;
  readonly id: string;
}
const lists = { node_id: 'nodes', link_id: 'links', drawing_id: 'drawings', snapshot_id: 'snapshots' } as const;
const strange = ['nope', '%00', '..', '%2e%2e%2fx', '__proto__', '-1', '%F0%9F%A6%80', 'x'.repeat(300)];
const files = [
  'a.txt',
  'b/c.txt',
  'README.txt',
  '%2e%2e/up',
  'project-files/a',
  'snapshots/x',
  '.deleted-nodes/x',
  'b',
  'startup.vpc',
];
const kinds = [
  'Vpcs',
  'EthernetSwitch',
  'EthernetHub',
  'FrameRelaySwitch',
  'AtmSwitch',
  'Cloud',
  'Nat',
  'Qemu',
  'Docker',
  'Iou',
  'Dynamips',
];
const types = [
  'vpcs',
  'vpcs',
  'vpcs',
  'ethernet_switch',
  'ethernet_switch',
  'ethernet_hub',
  'frame_relay_switch',
  'atm_switch',
  'cloud',
  'nat',
  'qemu',
];

export class World implements ValueSource {
  readonly chance: Chance;
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly #dataDir: string;
  readonly #known = new Map<string, Place[]>();
  /** Projects that no controller knows. */
  readonly #computeProjects: string[] = [];
  /** The current request goes to the compute, and must not create an object with an id of the controller. */
  #forCompute = false;
  /** The last archive that was exported. */
  archive: Uint8Array = Buffer.from('PK');

  constructor(chance: Chance, schemas: Readonly<Record<string, Schema>>, dataDir: string) {
    this.chance = chance;
    this.schemas = schemas;
    this.#dataDir = dataDir;
  }

  /** Reads what exists. Deleted ids are kept for a while: they are the most interesting invalid ones. */
  async look(client: RawClient): Promise<void> {
    const projects = await client.get<Item[]>('/v2/projects');
    this.#keep(
      'project_id',
      projects.map((item) => placeOf(item, 'project_id', '')),
    );
    for (const { project_id } of projects) {
      for (const [key, list] of Object.entries(lists)) {
        const found = await client.send(`GET /v2/projects/${project_id}/${list}`);
        // Projects are also deleted later than the request that caused it is answered.
        const items = found.status === 404 ? [] : expectStatus(found, 200).json<Item[]>();
        this.#keep(
          key,
          items.map((item) => placeOf(item, key, String(project_id))),
          String(project_id),
        );
      }
    }
    for (const key of ['template_id', 'compute_id']) {
      const items = await client.get<Item[]>(`/v2/${key.replace('_id', 's')}`);
      this.#keep(
        key,
        items.map((item) => placeOf(item, key, '')),
      );
    }
  }

  /** Records what a response reports as created. */
  learn(path: string, made: unknown): void {
    if (typeof made !== 'object' || made === null || !path.startsWith('/v2/compute/projects')) return;
    const { node_id, project_id } = made as Item;
    const type = /\/(\w+)\/nodes/.exec(path)?.[1] ?? '';
    if (typeof node_id === 'string') this.#list('node_id').push({ project: String(project_id), type, id: node_id });
    else if (typeof project_id === 'string' && path === '/v2/compute/projects') this.#computeProjects.push(project_id);
  }

  count(key: string): number {
    return this.#list(key).length;
  }

  /**
   * Fills a path template, mostly with ids that belong together. Compute routes never change objects of the controller: those
   * are only read through them.
   */
  fill(method: string, template: string): string {
    const { chance } = this;
    const forCompute = template.startsWith('/v2/compute/');
    this.#forCompute = forCompute;
    const controllers = this.#list('project_id').map(({ id }) => id);
    const project =
      chance.pick(forCompute && (method !== 'GET' || chance.next() < 0.5) ? this.#computeProjects : controllers) ?? randomUUID();
    const type = forCompute ? /\/(\w+)\/nodes\//.exec(template)?.[1] : undefined;
    return template.replace(/\{(\w+)\}/g, (_, key: string) => {
      const luck = chance.next();
      if (luck < 0.02) return chance.pick(strange) ?? '';
      if (luck < 0.03) return randomUUID();
      if (luck < 0.06) return this.#anyBut(key);
      if (key === 'project_id') return project;
      if (key.endsWith('_number')) return String(chance.pick([0, 0, 0, 0, 1, 2, 7, 64]));
      if (key === 'path' || key === 'filename') return chance.pick(files) ?? '';
      const fitting = this.#list(key).filter(
        (each) => (each.project === project || each.project === '') && (!type || each.type === type),
      );
      return chance.pick(fitting)?.id ?? String(chance.pick(this.hint(key) ?? [this.#anyBut(key)]));
    });
  }

  hint(key: string): readonly unknown[] | undefined {
    const ids = (name: string) =>
      this.#list(name)
        .slice(-12)
        .map(({ id }) => id);
    switch (key) {
      case 'node_id':
        return this.#forCompute ? [randomUUID()] : [...ids(key), randomUUID()];
      case 'link_id':
      case 'drawing_id':
      case 'template_id':
      case 'project_id':
        return this.#forCompute
          ? [randomUUID()]
          : [this.chance.pick(ids(key)) ?? randomUUID(), randomUUID(), randomUUID(), randomUUID()];
      case 'compute_id':
        return ['local', 'local', 'local', 'local', 'local', 'local', 'vm', randomUUID()];
      case 'node_type':
      case 'template_type':
        return types;
      case 'emulator':
        return ['qemu', 'vpcs', 'iou', 'projects'];
      case 'action':
        return ['images', 'nodes', 'binaries', 'a'];
      case 'symbol_id':
      case 'symbol':
        return [':/symbols/classic/computer.svg', 'computer', 'none.svg', 'a.svg', '../a'];
      case 'engine':
        return ['vmware', 'remote', 'none'];
      default:
        return this.#other(key);
    }
  }

  #other(key: string): readonly unknown[] | undefined {
    switch (key) {
      case 'adapter_number':
        return [0, 0, 0, 0, 1, -1, 2 ** 31];
      case 'port_number':
        return [0, 0, 1, 2, 3, 4, 5, 6, 7, -1, 2 ** 31];
      case 'filters':
        return [
          {},
          { latency: [5] },
          { delay: [10, 5] },
          { packet_loss: [100] },
          { frequency_drop: [-1] },
          { bpf: ['icmp'] },
          { bpf: ['('] },
          { x: 1 },
        ];
      case 'properties':
        return [{}, {}, valueFor(this, this.schemas[`PostComputeProjectsProjectId${this.chance.pick(kinds)}NodesBody`] ?? {})];
      case 'path':
      case 'linked_clone_path':
        return [join(this.#dataDir, 'projects', this.chance.pick(['a', 'b', 'c']) ?? ''), 'relative'];
      case 'host':
      case 'rhost':
        return ['127.0.0.1', '::1', '0.0.0.0'];
      // No process listens there; the fuzzer sends neither frames nor requests to other hosts.
      case 'port':
      case 'rport':
        return [1];
      case 'startup_script':
        return ['ip 10.0.0.1/24\n', 'set pcname X\n', 'quit\n', '\n', 'x'.repeat(3000)];
      // A capture that ends by itself is another one after a restart.
      case 'max_seconds':
        return [86_400];
      case 'max_bytes':
        return [1_000_000_000];
      case 'step':
        return [1, 2, 5, 20, 2 ** 40];
      default:
        return undefined;
    }
  }

  /** The id of an object of another type. */
  #anyBut(key: string): string {
    const others = [...this.#known].filter(([each]) => each !== key).flatMap(([, places]) => places);
    return this.chance.pick(others)?.id ?? randomUUID();
  }

  #list(key: string): Place[] {
    const list = this.#known.get(key) ?? [];
    this.#known.set(key, list);
    return list;
  }

  #keep(key: string, found: readonly Place[], project?: string): void {
    const old = this.#list(key);
    const ids = new Set(found.map(({ id }) => id));
    const others = old.filter(
      (each) => !ids.has(each.id) && (project !== undefined && each.project !== project ? true : this.chance.next() < 0.3),
    );
    this.#known.set(key, [...others, ...found]);
  }
}

function placeOf(item: Item, key: string, project: string): Place {
  return { project, type: String(item.node_type ?? ''), id: String(item[key]) };
}
