/** Answers that slurmrestd seldom gives, by a stand-in on a Unix socket (test/integration/slurm-engine has a real one). */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { EngineError } from '../engine.ts';
import { SlurmRest } from './slurm-rest.ts';

const tag = 'patchbay 1 ';
const jobOf = (user: number) => `{"job_id": 7, "job_state": "RUNNING", "comment": "${tag}2 lab", "user_id": ${user}}`;
const job = jobOf(process.getuid?.() ?? 0);

it('takes no part of a list for the whole: a job that is missing from it would count as ended', async () => {
  await using started = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'pb-rest-'));
  started.defer(() => rm(folder, { recursive: true, force: true }));
  let answer = (response: ServerResponse) => response.end();
  const server = createServer(({ url }, response) => {
    if (url === '/openapi/v3') response.end('{"paths": {"/slurm/v0.0.38/jobs": {}}}');
    else answer(response);
  });
  const socketPath = join(folder, 'rest.sock');
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  started.defer(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const client = new SlurmRest(socketPath);
  started.defer(() => client.close());

  for (const text of ['{"errors": []}', '{"errors": [], "jobs": [', `{"jobs": [${job},`, '', '[]', 'null']) {
    answer = (response) => response.end(text);
    await assert.rejects(client.jobs('', tag), { name: 'EngineError', message: /no complete list of jobs/ }, text);
  }
  for (const errors of ['null', '7', '[null, 7, {"error": "no such partition", "error_code": 2000}]']) {
    answer = (response) => response.writeHead(500).end(`{"errors": ${errors}}`);
    await assert.rejects(client.jobs('', tag), EngineError, errors);
  }
  // Whether the same job can be accepted later.
  const submission = { name: '', comment: '', script: '', environment: {}, folder: '/', output: '', cpus: 1, memory: 1 };
  for (const [error_code, isFinal] of [
    [2000, true],
    [2014, true],
    [2015, false],
    [2068, false],
  ]) {
    answer = (response) => response.writeHead(500).end(JSON.stringify({ errors: [{ error: 'no', error_code }] }));
    await assert.rejects(client.submit({ ...submission, words: {}, minutes: null }), { name: 'EngineError', isFinal });
  }
  // What is no acceptance is not taken for one: nothing would report the slice.
  for (const [status, text] of [
    [200, '{}'],
    [302, '{"job_id": 8}'],
    [500, '{"errors": []}'],
    [502, '<html>'],
  ] as const) {
    answer = (response) => response.writeHead(status, { location: '/slurm/v0.0.38/jobs' }).end(text);
    await assert.rejects(client.submit({ ...submission, words: {}, minutes: null }), EngineError, text);
    if (status !== 200) await assert.rejects(client.cancel(8), EngineError, text);
  }
  answer = (response) => response.writeHead(500).end('{"errors": [{"error": "Job/step already completing or completed"}]}');
  await client.cancel(8);
  answer = (response) => response.end(`{"errors": [], "jobs": [${job}]}`);
  assert.deepEqual(
    (await client.jobs('', tag)).map(({ id, state }) => [id, state]),
    [[7, 'RUNNING']],
  );
  // Of another user, who has read the comment in the queue.
  answer = (response) => response.end(`{"errors": [], "jobs": [${jobOf(4_000_000_000)}]}`);
  assert.deepEqual(await client.jobs('', tag), []);
});
