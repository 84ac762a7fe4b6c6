/** Lines pasted into the console of a PC at once: each is carried out, in their order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTelnet } from '../support/telnet.ts';
import { createNode, createProject, withServer } from '../support/with-server.ts';

const { client } = await withServer();

for (const ending of ['\n', '\r', '\r\n'])
  test(`20 pasted lines that end in ${JSON.stringify(ending)} all arrive`, async () => {
    const project = await createProject(client);
    const pc = await createNode(client, project);
    await client.post(`${project.path}/nodes/${pc.node_id}/start`, {}, 200);
    const terminal = await openTelnet(Number(pc.console));
    await terminal.expect(/> $/);
    const names = Array.from({ length: 20 }, (_, index) => `pasted${index + 1}`);
    terminal.send(names.map((name) => `set pcname ${name}${ending}`).join(''));
    // Each name is in the prompt after its line.
    await terminal.expect(/pasted20> /);
    const prompts = [
      ...terminal
        .received()
        .toString()
        .matchAll(/(pasted\d+)> /g),
    ].map(([, name]) => name);
    assert.deepEqual([...new Set(prompts)], names);
    terminal.close();
    await client.post(`${project.path}/nodes/stop`, {}, 204);
  });
