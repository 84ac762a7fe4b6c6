/** Duplication of a project with a sparse disk of real size, against `cp --sparse` of the same folder. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'undici';
import { median, type Row, request } from './measure.ts';
import { startPatchbay } from './server.ts';

const run = promisify(execFile);
const rounds = 5;
const mebibyte = 1024 * 1024;

interface Project {
  project_id: string;
  path: string;
}

export async function benchDuplicate(say: (text: string) => void): Promise<Row[]> {
  const server = await startPatchbay();
  const client = new Client(server.url);
  try {
    const project = (await request(client, { method: 'POST', path: '/v2/projects', body: { name: 'source' } })) as Project;
    const node = { name: 'VM', node_type: 'qemu', compute_id: 'local', properties: { ram: 64 } };
    const { node_id } = (await request(client, {
      method: 'POST',
      path: `/v2/projects/${project.project_id}/nodes`,
      body: node,
    })) as { node_id: string };
    const folder = join(project.path, 'project-files', 'qemu', node_id);
    await mkdir(folder, { recursive: true });
    say('a disk of 1 GiB, of which 256 MiB are written');
    await sparseFile(join(folder, 'hda_disk.qcow2'), 1024, 256);
    const ours: number[] = [];
    const baseline: number[] = [];
    for (let round = 0; round < rounds; round++) {
      say(`duplicate, round ${round + 1} of ${rounds}`);
      ours.push(await timed(() => duplicate(client, project)));
      baseline.push(await timed(() => copy(project.path, join(server.folder, 'copied'))));
    }
    return [
      {
        what: 'duplicate a project with 256 MiB on disk, ms',
        ours: median(ours),
        baseline: median(baseline),
        against: '`cp -a --sparse=always` of its folder',
      },
    ];
  } finally {
    await client.close();
    await server.stop();
  }
}

async function sparseFile(path: string, sizeMiB: number, writtenMiB: number): Promise<void> {
  const file = await open(path, 'w');
  const step = Math.floor(sizeMiB / writtenMiB);
  for (let block = 0; block < writtenMiB; block++) await file.write(randomBytes(mebibyte), 0, mebibyte, block * step * mebibyte);
  await file.truncate(sizeMiB * mebibyte);
  await file.sync();
  await file.close();
}

async function duplicate(client: Client, project: Project): Promise<() => Promise<unknown>> {
  const path = `/v2/projects/${project.project_id}/duplicate`;
  const copied = (await request(client, { method: 'POST', path, body: { name: 'copy' } })) as Project;
  return () => request(client, { method: 'DELETE', path: `/v2/projects/${copied.project_id}` });
}

async function copy(from: string, to: string): Promise<() => Promise<void>> {
  await run('cp', ['-a', '--sparse=always', from, to]);
  return () => rm(to, { recursive: true });
}

/** Milliseconds of the work; the function it returns reverts the work, unmeasured. */
async function timed(work: () => Promise<() => Promise<unknown>>): Promise<number> {
  const started = performance.now();
  const undo = await work();
  const taken = performance.now() - started;
  await undo();
  return taken;
}
