import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { ServerClient } from '../server-client.ts';
import { undoOfSteps } from './undo-steps.ts';

test('the undo of an interrupted call includes a step that is recorded after the interruption', async (t) => {
  const entries: object[] = [];
  const undone: unknown[] = [];
  const server = createServer(async (request, response) => {
    const pieces = await request.toArray();
    if (request.url?.endsWith('/undo')) undone.push(JSON.parse(Buffer.concat(pieces).toString()));
    response.end(JSON.stringify(request.method === 'GET' ? { entries } : {}));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const api = new ServerClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  const wish = { projectId: 'p', client: 'mcp-1' };
  assert.equal(await undoOfSteps(api, wish), undefined);
  const undo = await undoOfSteps(api, { ...wish, isInterrupted: true });
  entries.push({ by: 'mcp-1', inverts: null, step: 7 }, { by: 'other', inverts: null, step: 8 });
  assert.equal(undo?.does, 'undo its steps in the history of the project');
  await undo.run();
  assert.deepEqual(undone, [{ step: 7 }]);
});
