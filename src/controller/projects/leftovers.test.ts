import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { waitFor } from '../../../test/support/wait-for.ts';
import { withController } from '../../../test/support/with-controller.ts';
import { fault } from '../../api/faults.ts';

const bench = withController();

test("a project that the server's own compute could not close, as its disk was full, is closed there soon after", async (t) => {
  const { transport } = bench.controller.computes.local;
  await bench.addNode('A');
  const { project_id } = bench.project;
  const { send, call } = transport;
  let closes = 0;
  const sent = mock.method(transport, 'send', async (...words: Parameters<typeof send>) => {
    if (words[0] !== 'POST /v2/compute/projects/{project_id}/close') return send.apply(transport, words);
    closes += 1;
    if (closes === 1) throw fault('storage_failed', { reason: 'ENOSPC: no space left on device, write' });
  });
  // The compute of this bench does not list its projects.
  const called = mock.method(transport, 'call', async (...words: Parameters<typeof call>) =>
    String(words[0]) === 'GET /v2/compute/projects' ? [{ project_id }] : call.apply(transport, words),
  );
  t.after(() => {
    sent.mock.restore();
    called.mock.restore();
  });
  await bench.controller.projects.get(project_id).close();
  assert.equal(closes, 1);
  const closed = bench.controller.watch.leftovers.closed(bench.controller.computes.local, project_id);
  await waitFor(() => closes === 2, { what: 'the second request to close it' });
  assert.equal(await closed, true);
  assert.equal(bench.controller.watch.leftovers.closed(bench.controller.computes.local, project_id), undefined);
});
