/** Errors that report an engine that goes away: a server at a Unix socket that hangs up, as a killed engine does. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { isFault } from '../../api/faults.ts';
import { DockerEngine } from './engine.ts';

test('an engine that ends in the middle of an answer is missing, and its earlier lines were received', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-'));
  const line = `${JSON.stringify({ status: 'Pulling' })}\n`;
  const half = `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${line.length.toString(16)}\r\n${line}\r\n`;
  const server = createServer((socket) => socket.once('data', () => socket.end(half)));
  server.listen(join(folder, 'socket'));
  await once(server, 'listening');
  const engine = new DockerEngine(join(folder, 'socket'));
  const isMissing = (error: unknown) => isFault(error, 'docker_engine_missing');
  const lines: unknown[] = [];
  await assert.rejects(
    engine.follow('/images/create?fromImage=a', (line) => lines.push(line)),
    isMissing,
  );
  assert.deepEqual(lines, [{ status: 'Pulling' }]);
  await assert.rejects(engine.find('/containers/a/json'), isMissing);
  await assert.rejects(engine.post('/containers/a/start'), isMissing);
  await assert.rejects(engine.delete('/containers/a'), isMissing);
  server.close();
  await rm(folder, { recursive: true });
});
