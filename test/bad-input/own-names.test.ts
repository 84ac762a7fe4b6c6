/** Files of a project may not take the names that the server uses itself, and nothing that lies there keeps the server from starting. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { createNode, createProject, withServer } from '../support/with-server.ts';

const { server, client } = await withServer();

describe('a file of a project', () => {
  test('takes no name of the server, by neither route, nor by a link', async () => {
    const project = await createProject(client, { name: 'mine' });
    const node = await createNode(client, project);
    const folder = join(server.dataDir, 'projects', project.id);
    await symlink('.', join(folder, 'here'));
    // The server writes its history and a new version of the file of the project in the background.
    const isOwnWriting = (path: string) => /(^|\/)mine\.gns3\.(history|tmp)$/.test(path);
    // Entries behind the link are not listed again: `readdir` follows none when it is asked for their types.
    const listing = async () =>
      (await readdir(folder, { recursive: true, withFileTypes: true }))
        .map((entry) => join(entry.parentPath, entry.name))
        .filter((path) => !isOwnWriting(path))
        .sort();
    const before = await listing();
    const names = [
      'snapshots',
      'snapshots/x',
      'tmp',
      'tmp/x',
      '.deleted-nodes',
      `.deleted-nodes/${node.node_id}/x`,
      '.patchbay-restore',
      '.patchbay-restore/project-files/x',
      'project-files',
      'project-files/captures',
      'project-files/captures/x.pcap',
      'project-files/vpcs',
      'project-files/qemu',
      'project-files/nothing/x',
      `project-files/vpcs/${randomUUID()}`,
      `project-files/vpcs/${node.node_id}`,
      'project-files/vpcs/../captures',
      'mine.gns3',
      'mine.gns3.log',
      'mine.gns3.history',
      'mine.gns3.damaged-1',
      'other.gns3.tmp',
    ];
    for (const files of [`${project.path}/files`, `${project.computePath}/files`]) {
      for (const name of names.flatMap((one) => [one, `here/${one}`])) {
        const path = name.split('/').map(encodeURIComponent).join('/');
        expectFault(await client.send(`POST ${files}/${path}`, { raw: 'x' }), 403);
      }
    }
    assert.deepEqual(await listing(), before);
    expectStatus(await client.send(`POST ${project.path}/files/README.txt`, { raw: 'x' }), 201);
    expectStatus(await client.send(`POST ${project.path}/nodes/${node.node_id}/files/deep/x.txt`, { raw: 'x' }), 201);
    expectStatus(await client.send(`POST ${project.path}/snapshots`, { body: { name: 'one' } }), 201);
  });
});

describe('a staging folder that cannot be removed', () => {
  test('a file in the place of its parent: the snapshot is refused, and the server starts', async () => {
    const project = await createProject(client);
    const folder = join(server.dataDir, 'projects', project.id);
    await writeFile(join(folder, 'snapshots'), '');
    expectFault(await client.send(`POST ${project.path}/snapshots`, { body: { name: 'one' } }), 409);
    await server.restart();
    await server.kill9();
    await server.restart();
    expectStatus(await client.send(`GET ${project.path}`), 200);
    await rm(join(folder, 'snapshots'));
    expectStatus(await client.send(`POST ${project.path}/snapshots`, { body: { name: 'one' } }), 201);
  });

  test('a start with any left-over in its place', async () => {
    await server.terminate();
    await rm(join(server.dataDir, 'server.pid'), { recursive: true, force: true });
    await mkdir(join(server.dataDir, 'server.pid', 'deep'), { recursive: true });
    await server.restart();
    expectStatus(await client.send('GET /v2/version'), 200);
  });
});
