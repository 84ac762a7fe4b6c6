/** Carries out one attack on a server. @returns the defects as texts; empty when the server held */
import { randomUUID } from 'node:crypto';
import { faultRows } from '../../../src/api/faults.ts';
import type { Chance } from '../../durability/random.ts';
import type { Reply } from '../../support/raw-http.ts';
import { zipByHand } from '../../support/zip-by-hand.ts';
import { setUp, tearDown } from '../fuzz/lab.ts';
import { operationsOf } from '../fuzz/operations.ts';
import { World } from '../fuzz/world.ts';
import { attackArchive } from './archives.ts';
import type { AttackBench } from './bench.ts';
import { httpAttack, playHttpAttack } from './http.ts';
import { attackImage } from './images.ts';
import { machineProblems } from './machine.ts';
import { attackProjectFile } from './project-files.ts';
import { attackOptions } from './qemu-options.ts';

export interface Case {
  readonly bench: AttackBench;
  readonly chance: Chance;
  readonly tally: Tally;
  /** Whether requests are sent one at a time, so that the one that caused a defect is known. */
  readonly isAlone: boolean;
}
export interface Tally {
  requests: number;
  files: number;
  machines: number;
  refused: number;
}
export type CaseKind = keyof typeof cases;

/** Requests of one case. */
export const requestsPerCase = 500;
const requestsAtOnce = 12;
const limitMs = 60_000;
const tiny = { ram: 16, adapters: 1, boot_priority: 'n', qemu_path: 'qemu-system-x86_64', console_type: 'telnet' };
const bare = '-nodefaults -machine accel=tcg,graphics=off';

export const cases = {
  requests: playRequests,
  options: (one: Case) => playMachine(one, { options: attackOptions(one.chance, one.bench.bait) }),
  image: playImage,
  clone: playClone,
  archive: (one: Case) => playProject(one, attackArchive(one.chance, one.bench.bait)),
  project: playProjectFile,
} as const;

async function playRequests({ bench, chance, tally, isAlone }: Case): Promise<string[]> {
  const world = new World(chance, bench.document.components.schemas, bench.server.dataDir);
  const ground = { world, operations: operationsOf(bench.document), bait: bench.bait };
  await setUp(bench, world);
  const problems: string[] = [];
  for (let left = requestsPerCase; left > 0; left -= 50) {
    await world.look(bench.client);
    const attacks = Array.from({ length: Math.min(left, 50) }, () => httpAttack(ground, bench.target));
    const next = async () => {
      for (let attack = attacks.pop(); attack; attack = attacks.pop()) {
        const from = `127.${chance.between(1, 200)}.${chance.between(0, 255)}.${chance.between(1, 254)}`;
        tally.requests += 1;
        const problem = await playHttpAttack({ ...bench.target, from }, attack);
        if (problem !== undefined) problems.push(problem);
        if (isAlone) problems.push(...(await bench.wasHeld()).map((each) => `${each}: ${JSON.stringify(attack).slice(0, 2_000)}`));
      }
    };
    await Promise.all(Array.from({ length: isAlone ? 1 : requestsAtOnce }, next));
    problems.push(...(await bench.problems()));
  }
  await tearDown(bench).catch((error: Error) => problems.push(`left: ${error.message}`));
  return problems;
}

/** Refused or done, never a 500; no response contains the secret. */
async function sendTo({ bench, tally }: Case, line: string, ask: { body?: unknown; raw?: Uint8Array } = {}): Promise<Send> {
  const reply = await bench.client.send(line, { ...ask, limitMs });
  if (reply.status >= 400) tally.refused += 1;
  const problems = known.has(reply.status) || reply.status < 400 ? [] : [`${line}: ${reply.status} ${reply.text().slice(0, 500)}`];
  if (reply.bytes.includes('secret xxxx')) problems.push(`the secret was read by ${line}`);
  return { reply, problems };
}
interface Send {
  readonly reply: Reply;
  readonly problems: string[];
}
const known = new Set(faultRows().flatMap(({ status }) => (status === 500 ? [] : [status])));

/** Creates a machine on the compute with the options of a project, starts it and inspects it. */
async function playMachine(one: Case, properties: object): Promise<string[]> {
  const { client } = one.bench;
  const { project_id } = await client.post<{ project_id: string }>('/v2/compute/projects', { name: 'attack' });
  const nodes = `/v2/compute/projects/${project_id}/qemu/nodes`;
  const made = await sendTo(one, `POST ${nodes}`, { body: { name: 'attack', ...tiny, ...properties } });
  const problems = made.reply.status === 201 ? await startMachine(one, nodes, made.reply.json<{ node_id: string }>().node_id) : [];
  await client.delete(`/v2/compute/projects/${project_id}`);
  return [...made.problems, ...problems];
}

async function startMachine(one: Case, nodes: string, nodeId: string): Promise<string[]> {
  const { server } = one.bench;
  const start = await sendTo(one, `POST ${nodes}/${nodeId}/start`);
  if (start.reply.status < 300) one.tally.machines += 1;
  return [...start.problems, ...(await machineProblems(nodeId, [server.dataDir, server.runtimeDirectory]))];
}

const imageProperties = [
  'hda_disk_image',
  'hdb_disk_image',
  'hda_disk_image',
  'cdrom_image',
  'kernel_image',
  'bios_image',
  'initrd',
];

/** Attacks with an image in the image folder; the folder of the node is `playClone`. */
async function playImage(one: Case): Promise<string[]> {
  const { bench, chance, tally } = one;
  tally.files += 1;
  const name = `attack-${chance.between(0, 9)}.img`;
  const upload = await sendTo(one, `POST /v2/compute/qemu/images/${name}`, { raw: attackImage(chance, bench.bait) });
  const property = chance.pick(imageProperties) ?? 'hda_disk_image';
  const disk = { [property]: name, hda_disk_interface: 'ide', linked_clone: chance.next() < 0.5, options: bare };
  const machine = await playMachine(one, disk);
  const sized = await sendTo(one, 'PUT /v2/compute/qemu/img', { body: { qemu_img: 'qemu-img', path: name, extend: 1 } });
  return [...upload.problems, ...machine, ...sized.problems];
}

/** A disk of a linked clone, or a file that the node names, is replaced by way of the files. */
async function playClone(one: Case): Promise<string[]> {
  const { bench, chance, tally } = one;
  tally.files += 1;
  const { project_id } = await bench.client.post<{ project_id: string }>('/v2/compute/projects', { name: 'clone' });
  const project = `/v2/compute/projects/${project_id}`;
  const image = chance.pick(['empty8G.qcow2', 'empty8G.qcow2', 'own.img']);
  const made = await bench.client.send(`POST ${project}/qemu/nodes`, {
    body: { name: 'clone', ...tiny, hda_disk_image: image, hda_disk_interface: 'ide', options: bare },
  });
  const { node_id } = made.json<{ node_id: string }>();
  const path = image === 'own.img' ? image : `project-files/qemu/${node_id}/hda_disk.qcow2`;
  const written = await sendTo(one, `POST ${project}/files/${path}`, { raw: attackImage(chance, bench.bait) });
  const problems = await startMachine(one, `${project}/qemu/nodes`, node_id);
  await bench.client.delete(project);
  return [...written.problems, ...problems];
}

async function playProjectFile(one: Case): Promise<string[]> {
  const { bench, chance } = one;
  const content = attackProjectFile(chance, bench.bait);
  if (chance.next() < 0.75) return playProject(one, zipByHand([{ name: 'project.gns3', content, method: 8 }]));
  // The file is not imported but written, as far as file permissions allow.
  one.tally.files += 1;
  const name = `own ${chance.between(0, 2 ** 31)}`;
  const { project_id } = await bench.client.post<{ project_id: string }>('/v2/projects', { name });
  const project = `/v2/projects/${project_id}`;
  await bench.client.post(`${project}/close`, {}, 204);
  const place = chance.pick([`${encodeURIComponent(name)}.gns3`, 'project.gns3', 'other.gns3', 'snapshots/x.gns3project']) ?? '';
  const written = await sendTo(one, `POST ${project}/files/${place}`, { raw: content });
  const opened = await sendTo(one, `POST ${project}/open`);
  const gone = await sendTo(one, `DELETE ${project}`);
  return [...written.problems, ...opened.problems, ...gone.problems];
}

/** Imports it and uses it as a user would. */
async function playProject(one: Case, archive: Buffer): Promise<string[]> {
  const { bench, tally } = one;
  tally.files += 1;
  const project = `/v2/projects/${randomUUID()}`;
  const problems: string[] = [];
  const send = async (line: string, body?: unknown) => {
    const sent = await sendTo(one, line, body === undefined ? {} : { body });
    problems.push(...sent.problems);
    return sent.reply;
  };
  const imported = await sendTo(one, `POST ${project}/import`, { raw: archive });
  problems.push(...imported.problems);
  if (imported.reply.status !== 201) return problems;
  await send(`POST ${project}/open`);
  await send(`POST ${project}/nodes/start`);
  for (const list of ['nodes', 'links', 'drawings', 'snapshots', 'problems', 'files']) await send(`GET ${project}/${list}`);
  problems.push(...(await machineProblems(project.slice(-36), [bench.server.dataDir, bench.server.runtimeDirectory])));
  await send(`POST ${project}/nodes/stop`);
  const snapshots = await send(`GET ${project}/snapshots`);
  for (const { snapshot_id } of snapshots.status === 200 ? snapshots.json<{ snapshot_id: string }[]>().slice(0, 1) : [])
    await send(`POST ${project}/snapshots/${snapshot_id}/restore`);
  await send(`GET ${project}/export?include_images=yes`);
  const copy = await send(`POST ${project}/duplicate`, { name: 'copy' });
  if (copy.status === 201) await send(`DELETE /v2/projects/${copy.json<{ project_id: string }>().project_id}`);
  await send(`POST ${project}/close`);
  await send(`DELETE ${project}`);
  return problems;
}
