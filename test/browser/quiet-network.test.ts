/** Chromium of tests, which notices no interface of the host that comes or goes. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { quietNetwork } from '../support/quiet-network/quiet-network.ts';

const limitMs = 60_000;
const run = (program: string, args: string[], options = {}) =>
  promisify(execFile)(program, args, { encoding: 'utf8', timeout: limitMs, ...options });
const quiet = await quietNetwork();
const skip = quiet.LD_PRELOAD === undefined && 'no C compiler (cc) that makes libraries is installed';
const env = { ...process.env, ...quiet };

test('a process with its environment can open no netlink socket', { skip }, async () => {
  await run('ip', ['link']);
  await assert.rejects(run('ip', ['link'], { env }), /netlink/i);
});

test('a process with its environment opens TCP connections', { skip }, async (context) => {
  const server = createServer((_request, response) => void response.end('answer'));
  context.after(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const program = `fetch('http://127.0.0.1:${port}').then((answer) => answer.text()).then(console.log)`;
  assert.equal((await run(process.execPath, ['-e', program], { env })).stdout, 'answer\n');
});
