/** Lines pasted into the console of a PC at once: each is carried out, in their order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTelnet } from '../support/telnet.ts';
import { createNode, createProject, withServer } from '../support/with-server.ts';

const { client } = await withServer();

test('lines pasted before the prompt, and while a ping and a trace run, are carried out behind them', async () => {
  const project = await createProject(client);
  const pc = await createNode(client, project);
  await client.post(`${project.path}/nodes/${pc.node_id}/start`, {}, 200);
  const terminal = await openTelnet(Number(pc.console));
  const names = (word: string) => Array.from({ length: 10 }, (_, index) => `${word}${index}`);
  const lines = [...names('before'), 'ping 10.0.0.1 -c 2', ...names('between'), 'trace 10.0.0.9 -m 1', ...names('behind')];
  const text = lines.map((line) => (/^(?:ping|trace)/.test(line) ? line : `set pcname ${line}`)).join('\r\n');
  terminal.send(`ip 10.0.0.1/24\r\n${text}\r\n`);
  await terminal.expect(/behind9> /);
  const prompts = [
    ...terminal
      .received()
      .toString()
      .matchAll(/((?:before|between|behind)\d)> /g),
  ].map(([, name]) => name);
  assert.deepEqual([...new Set(prompts)], [...names('before'), ...names('between'), ...names('behind')]);
  terminal.close();
  await client.post(`${project.path}/nodes/stop`, {}, 204);
});

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
