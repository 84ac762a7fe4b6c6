import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { ControllerClient, RefusedError } from './controller-client.ts';

test('only the controller’s own refusal is final, and its answers are checked', async (t) => {
  let answer: [number, string] = [200, ''];
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(answer[0]).end(answer[1]);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const client = new ControllerClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const id = crypto.randomUUID();
  const address = { protocol: 'http' as const, host: '127.0.0.1', port: 1 };
  const renew = () => client.renew(id, { secret: '', epoch: 1, address }, AbortSignal.timeout(60_000));
  const refusal = () => renew().catch((error: unknown) => error);

  answer = [404, JSON.stringify({ message: 'no\u001b[2J slice', status: 404 })];
  const own = await refusal();
  assert.ok(own instanceof RefusedError && own.isFinal);
  assert.equal(own.message, 'no [2J slice');
  for (const other of ['<html>404</html>', '{"message":"default backend"}', JSON.stringify({ message: 'x', status: 503 })]) {
    answer = [404, other];
    const error = await refusal();
    assert.ok(error instanceof RefusedError && !error.isFinal, other);
  }
  const lease = { compute_id: id, epoch: 1, seconds: 5, fenced: false };
  answer = [200, JSON.stringify(lease)];
  assert.deepEqual(await renew(), lease);
  for (const wrong of [{ seconds: 1e12 }, { seconds: 1e-9 }, { seconds: '5' }, { compute_id: '../..' }, { epoch: 0.5 }]) {
    answer = [200, JSON.stringify({ ...lease, ...wrong })];
    await assert.rejects(renew(), /no lease/);
  }
  answer = [200, `${JSON.stringify(lease)}${' '.repeat(100_000)}`];
  await assert.rejects(renew(), /too long/);
});
