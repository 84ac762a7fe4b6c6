/** Projects made at random from the schemas of every kind leave as archives, project files and lab files, and come back with all that is not named as lost. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { ServerClient } from '../../cli/server-client.ts';
import { applyPlan } from '../../lab/apply.ts';
import { exportFrom } from '../../lab/export.ts';
import { filesOf } from '../../lab/file/lab-files.ts';
import { loadLab } from '../../lab/file/load-lab.ts';
import { planOn } from '../../lab/open-lab.ts';
import type { KindFacts, KindSchemas } from '../../src/schema/kind.ts';
import type { Link } from '../../src/schema/link.ts';
import type { Node } from '../../src/schema/node.ts';
import type { Project } from '../../src/schema/project.ts';
import { makeChance } from '../durability/random.ts';
import { expectStatus } from '../support/raw-http.ts';
import { createProject, type ProjectHandle, withServer } from '../support/with-server.ts';

const count = 100;
const { server, client } = await withServer();
const api = new ServerClient({ url: server.url });
const kinds = await client.get<KindFacts[]>('/v2/kinds');
const schemas = new Map(
  await Promise.all(
    kinds.map(
      async ({ node_type }) => [node_type, (await client.get<KindSchemas>(`/v2/kinds/${node_type}/schemas`)).node] as const,
    ),
  ),
);

type Json = Record<string, unknown>;
const texts = ['', 'a b', `\${x}`, '"q" \'s\'', 'é ☃', '<&>', '- # : ,', '%s %h', 'a\nb'];

class Maker {
  readonly #next: () => number;
  constructor(seed: number) {
    this.#next = makeChance(seed).next;
  }
  upTo(most: number): number {
    return Math.floor(this.#next() * (most + 1));
  }
  isOnce(in_: number): boolean {
    return this.upTo(in_ - 1) === 0;
  }
  pick<T>(list: readonly T[]): T {
    return list[this.upTo(list.length - 1)] as T;
  }
  /** A value that the schema allows; undefined for schemas that are not walked. */
  valueOf(schema: Json): unknown {
    const {
      type,
      anyOf,
      enum: words,
      const: only,
      pattern,
      minimum,
      maximum,
    } = schema as {
      readonly [key: string]: never;
    } & {
      readonly type?: string;
      readonly anyOf?: Json[];
      readonly enum?: unknown[];
      readonly minimum?: number;
      readonly maximum?: number;
    };
    if (only !== undefined) return only;
    if (words) return this.pick(words);
    if (anyOf) return this.valueOf(this.pick(anyOf.filter((one) => one.type !== 'null')));
    if (type === 'boolean') return this.isOnce(2);
    if (type === 'integer') return Math.min(Number(minimum ?? 0) + this.upTo(12), Number(maximum ?? 2 ** 30));
    if (type === 'string' && pattern === undefined) return this.pick(texts);
    return undefined;
  }
}

/** Properties that name files, ports and numbers of the host, and slots that the platform of the routers does not have. */
const notMade =
  /^(?:console|aux|node_id|name|project_id|status|node_directory|container_id|dynamips_id|application_id|.*md5sum|qemu_path|slot[3-6])$/;
const needed: Readonly<Record<string, Json>> = {
  qemu: { hda_disk_image: 'absent.qcow2' },
  docker: { image: 'absent/image' },
  iou: { path: 'absent.bin' },
  dynamips: { image: 'absent.image', platform: 'c3725', ram: 128 },
  virtualbox: { vmname: 'absent' },
  vmware: { vmx_path: '/absent.vmx', linked_clone: true },
};

function nodeOf(make: Maker, index: number): Json {
  const { node_type, console_types } = make.pick(kinds);
  const all = Object.entries((schemas.get(node_type)?.properties ?? {}) as Record<string, Json>);
  const properties: Json = { ...needed[node_type] };
  for (const [key, schema] of all) {
    if (notMade.test(key) || Object.hasOwn(properties, key) || key === 'console_type' || !make.isOnce(3)) continue;
    const value = make.valueOf(schema);
    if (value !== undefined && !/image$|initrd/.test(key)) properties[key] = value;
  }
  return {
    ...{ name: `${make.pick(['N', 'no ', 'e', 'é'])}${index}`, node_type, compute_id: 'local', properties },
    ...{ x: make.upTo(900) - 400, y: make.upTo(900) - 400, z: make.upTo(3), locked: make.isOnce(4) },
    ...(console_types.length > 0 && make.isOnce(2) && { console_type: make.pick(console_types) }),
    ...(make.isOnce(3) && { console_auto_start: true }),
    ...(make.isOnce(3) && { symbol: ':/symbols/router.svg' }),
    ...(make.isOnce(3) && {
      label: { text: 'x', x: make.upTo(9), y: -make.upTo(30), rotation: make.upTo(90), style: 'font-size: 10' },
    }),
  };
}

const filters = [
  {},
  { delay: [12.5, 3] },
  { packet_loss: [0.5], jitter: [1, 'normal'], delay_ba: [7] },
  { bpf: ['arp'], seed: [5] },
];

/** Interfaces of the host that stay: other tests make some and remove them. */
const lastingInterface = /^(?:lo|eth\d+|en[a-z]\w*)$/;

async function makeProject(make: Maker, seen: { taken: number }): Promise<ProjectHandle> {
  const project = await createProject(client, { auto_close: false });
  const settings = {
    ...(make.isOnce(2) && { variables: [{ name: 'A', value: make.pick(texts) }] }),
    ...(make.isOnce(2) && { supplier: { logo: 'x.png', url: 'http://x' } }),
    ...(make.isOnce(2) && { scene_width: 1000 + make.upTo(900), show_grid: true, zoom: 50 + make.upTo(90) }),
  };
  await client.put(project.path, settings);
  for (let index = 0; index <= 2 + make.upTo(3); index += 1) {
    const body = nodeOf(make, index);
    const made = await client.send(`POST ${project.path}/bulk`, { body: { nodes: [body] } });
    // Values that a kind refuses together.
    if (made.status === 201) seen.taken += 1;
    else {
      const plain = { ...body, properties: needed[String(body.node_type)] ?? {} };
      expectStatus(await client.send(`POST ${project.path}/bulk`, { body: { nodes: [plain] } }), 201);
    }
  }
  const nodes = await client.get<Node[]>(`${project.path}/nodes`);
  for (const [index, node] of nodes.slice(1).entries()) {
    const ends = [nodes[index] as Node, node].map(({ node_id, node_type, ports }, at) => ({
      node_id,
      port: (node_type === 'cloud' ? ports.filter(({ name }) => lastingInterface.test(name)) : ports).at(at - 1),
    }));
    if (ends.some(({ port }) => port === undefined)) continue;
    const body = {
      nodes: ends.map(({ node_id, port }) => ({
        node_id,
        adapter_number: port?.adapter_number,
        port_number: port?.port_number,
        ...(make.isOnce(2) && { label: { text: make.pick(texts), x: make.upTo(9), y: 5 } }),
      })),
      filters: make.pick(filters),
      suspend: make.isOnce(3),
      link_style: make.isOnce(2) ? { color: '#ff0000', width: 3, type: 1 } : {},
    };
    // Some pairs of ports cannot be linked.
    const made = await client.send(`POST ${project.path}/links`, { body });
    if (made.status !== 201 || !make.isOnce(3)) continue;
    const schedule = {
      steps: [
        { at: 0, filters: { delay: [make.upTo(9)] } },
        { at: 9000 + make.upTo(99), suspend: true },
      ],
    };
    await client.put(`${project.path}/links/${made.json<Link>().link_id}/schedule`, schedule);
  }
  for (let index = make.upTo(2); index > 0; index -= 1) {
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${index + 9}" height="9"><text>${make.pick(['a', 'é', '&amp;'])}</text></svg>`;
    await client.post(`${project.path}/drawings`, { svg, x: make.upTo(99), y: -5, z: make.upTo(3), rotation: make.upTo(90) });
  }
  if (make.isOnce(2))
    expectStatus(await client.send(`POST ${project.path}/files/README.txt`, { raw: make.pick(texts) || 'x' }), 201);
  return project;
}

/** Reads all of a project but ids, folders, console ports, numbers, and the interfaces that the host has at the moment. */
async function contentOf(path: string): Promise<Json> {
  const [project, nodes, links, drawings, schedules] = await Promise.all([
    client.get<Project & Json>(path),
    client.get<Node[]>(`${path}/nodes`),
    client.get<Link[]>(`${path}/links`),
    client.get<Json[]>(`${path}/drawings`),
    client.get<{ link_id: string; schedule: { steps: unknown } }[]>(`${path}/link_schedules`),
  ]);
  const names = new Map(nodes.map(({ node_id, name }) => [node_id, name]));
  const byText = <T>(list: T[]) =>
    list
      .map((one) => [JSON.stringify(one), one] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, one]) => one);
  const readme = await client.send(`GET ${path}/files/README.txt`);
  // An imported project does not begin by itself, as in GNS3.
  const { name: _, project_id: _id, path: _path, filename: _file, auto_close: _close, ...settings } = project;
  return {
    settings,
    nodes: byText(
      nodes.map(
        ({
          node_id: _node,
          project_id: _project,
          node_directory: _folder,
          console: _port,
          command_line: _line,
          properties,
          ...node
        }) => ({
          ...node,
          properties: Object.fromEntries(
            Object.entries(properties).filter(
              ([key, value]) =>
                value !== '' && value !== null && !/^(?:aux|application_id|container_id|dynamips_id|interfaces)$/.test(key),
            ),
          ),
        }),
      ),
    ),
    links: byText(
      links.map(({ link_id, project_id: _project, nodes: ends, ...link }) => ({
        ...link,
        steps: schedules.find((one) => one.link_id === link_id)?.schedule.steps,
        ends: ends.map(({ node_id, ...end }) => ({ ...end, node: names.get(node_id) })),
      })),
    ),
    drawings: byText(drawings.map(({ drawing_id: _drawing, project_id: _project, ...drawing }) => drawing)),
    readme: readme.status === 200 ? readme.text() : undefined,
  };
}

async function importArchive(project: ProjectHandle): Promise<string> {
  const archive = expectStatus(await client.send(`GET ${project.path}/export`), 200);
  const id = randomUUID();
  expectStatus(await client.send(`POST /v2/projects/${id}/import?name=in-${id}`, { raw: archive.bytes }), 201);
  return id;
}

async function loadCopy(project: ProjectHandle): Promise<string> {
  const { path, filename } = await client.get<Project>(project.path);
  await client.post(`${project.path}/close`, {}, 204);
  const { project_id } = await client.post<Project>('/v2/projects/load', { path: `${path}/${filename}`, copy: true });
  await client.post(`${project.path}/open`);
  return project_id;
}

const external = new Set(['virtualbox', 'vmware']);

/** Applies the lab file of a project under another name. @returns the id, and what the file names as lost */
async function applyLab(project: ProjectHandle, name: string): Promise<{ id: string; named: readonly string[] }> {
  const text = await exportFrom(api, await client.get<Project>(project.path));
  const lab = await loadLab({ text: text.replace(/^name: .*$/m, `name: ${name}`), file: 'exported.yaml', files: filesOf({}) });
  const { project_id } = await applyPlan(api, lab, await planOn(api, lab));
  return { id: project_id, named: text.split('\n').filter((line) => line.startsWith('# ')) };
}

const parts = 4;
const each = count / parts;

for (let part = 0; part < parts; part += 1)
  test(`${each} projects leave and come back in three ways, from seed ${part * each}`, { timeout: 290_000 }, async () => {
    const seen = { links: 0, refused: 0, taken: 0, nodes: 0 };
    for (let seed = part * each; seed < (part + 1) * each; seed += 1) {
      const project = await makeProject(new Maker(seed), seen);
      const before = await contentOf(project.path);
      const nodes = before.nodes as Node[];
      const comesBack = async (id: string, what: string, wanted: Json) => {
        const path = `/v2/projects/${id}`;
        await client.post(`${path}/open`);
        assert.deepEqual(await contentOf(path), wanted, `seed ${seed}: ${what}`);
        await client.delete(path);
      };
      const lab = await applyLab(project, `lab-${seed}`);
      assert.equal(
        lab.named.some((line) => line.includes('README.txt')),
        before.readme !== undefined,
      );
      await comesBack(lab.id, lab.named.join('\n'), { ...before, readme: undefined });
      if (nodes.some(({ node_type }) => external.has(node_type))) {
        expectStatus(await client.send(`GET ${project.path}/export`), 409);
        seen.refused += 1;
      } else await comesBack(await importArchive(project), 'the archive', before);
      await comesBack(await loadCopy(project), 'the project file', before);
      await client.delete(project.path);
      seen.links += (before.links as unknown[]).length;
      seen.nodes += nodes.length;
    }
    assert.ok(seen.links > each / 2 && seen.refused < each && seen.taken > seen.nodes / 2, JSON.stringify(seen));
  });
