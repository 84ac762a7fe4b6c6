/** The server ends politely, with and without its nodes, and begins only once on a data directory. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, describe, test } from 'node:test';
import { listLeftovers, processesOf } from '../support/leftovers.ts';
import { pcsOfFabric } from '../support/pcs-of-fabric.ts';
import { RawClient } from '../support/raw-http.ts';
import { type RunningServer, type ServerOptions, serverProgram, startServer } from '../support/server.ts';
import { openTelnet } from '../support/telnet.ts';
import { createNode, createProject, end, idleVm, type NodeBody } from '../support/with-server.ts';

const config = { Qemu: { acceleration: 'off' } };

async function withRunningVm(
  options: ServerOptions,
  run: (server: RunningServer, client: RawClient, vm: NodeBody & { path: string }) => Promise<void>,
) {
  const server = await startServer({ config, ...options });
  const client = new RawClient(server.url);
  try {
    const project = await createProject(client);
    const vm = await createNode(client, project, 'qemu', { properties: idleVm });
    const peer = await createNode(client, project, 'vpcs');
    await client.post(`${project.path}/links`, { nodes: [end(vm), end(peer)] });
    await client.post(`${project.path}/nodes/start`, {}, 204);
    await run(server, client, { ...vm, path: `${project.path}/nodes/${vm.node_id}` });
  } finally {
    client.close();
    await server.stop();
  }
}

const emulators = (server: RunningServer) =>
  processesOf(server.dataDir, server.runtimeDirectory)
    .filter(({ commandLine }) => /qemu-system-/.test(commandLine))
    .map(({ pid }) => pid)
    .sort();

describe('SIGTERM', () => {
  test('ends with code 0; nodes and links stay, and the next server has them', async () => {
    await withRunningVm({ stopNodes: false }, async (server, client, vm) => {
      const before = emulators(server);
      const pcs = await pcsOfFabric(server);
      assert.deepEqual([before.length, pcs.length], [1, 1], 'a QEMU, and a PC in the fabric');
      assert.equal(await server.terminate(), 0);
      assert.deepEqual([emulators(server), await pcsOfFabric(server)], [before, pcs]);
      await server.restart();
      assert.equal((await client.get<NodeBody>(vm.path)).status, 'started');
      assert.deepEqual(emulators(server), before);
      const telnet = await openTelnet(vm.console as number);
      await client.post(`${vm.path}/reload`, {}, 200);
      await telnet.expect(/iPXE|SeaBIOS/);
      telnet.close();
    });
  });

  test('with --stop-nodes everything ends, and nothing is left; the server of another program freezes no project', async () => {
    await withRunningVm({ stopNodes: true, args: ['--until-stdin-ends'] }, async (server, client, vm) => {
      const projectPath = vm.path.replace(/\/nodes\/.*/, '');
      const { path } = await client.put<{ path: string }>(projectPath, { on_close: 'freeze' });
      assert.equal(await server.terminate(), 0);
      assert.deepEqual(await listLeftovers(server.dataDir), []);
      const names = await readdir(path, { recursive: true });
      assert.deepEqual(
        names.filter((name) => /resume|memory/.test(name)),
        [],
      );
      await server.restart();
      assert.equal((await client.get<NodeBody>(vm.path)).status, 'stopped');
    });
  });

  test('while clients listen and requests are on their way: it ends all the same', async () => {
    await withRunningVm({ stopNodes: false }, async (server, client, vm) => {
      const listening = client.send('GET /v2/notifications').catch(() => undefined);
      const socket = new WebSocket(`${server.url.replace('http', 'ws')}/v2/notifications/ws`);
      await once(socket, 'open');
      const telnet = await openTelnet(vm.console as number);
      const busy = Array.from({ length: 20 }, (_, x) => client.send(`PUT ${vm.path}`, { body: { x } }).catch(() => undefined));
      const closed = once(socket, 'close');
      assert.equal(await server.terminate(), 0);
      await Promise.all([listening, closed, telnet.closed, ...busy]);
    });
  });
});

describe('a second server on the same data directory', () => {
  const folder = mkdtemp(join(tmpdir(), 'pb-second-')).then((path) => realpath(path));
  after(async () => rm(await folder, { recursive: true, force: true }));
  const begin = async (...args: string[]) => {
    const child = spawn(process.execPath, [serverProgram, '--port', '0', ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      // A process that stands still fails with its arguments and its output.
      timeout: 60_000,
      killSignal: 'SIGKILL',
    });
    const [output, [code]] = await Promise.all([text(child.stderr), once(child, 'close') as Promise<[number | null]>]);
    assert.notEqual(code, null, `ended after a minute: ${args.join(' ')}: ${output}`);
    return { output, code };
  };

  test('is refused with a message that names the directory and what to do', async () => {
    const server = await startServer({ config });
    try {
      const { output, code } = await begin('--data-dir', server.dataDir);
      assert.equal(code, 2);
      assert.match(output, /in use by process \d+.*--data-dir/);
      assert.ok(output.includes(server.dataDir) && output.includes(String(server.pid)));
      assert.doesNotMatch(output, /\n\s+at /);
    } finally {
      await server.stop();
    }
  });

  test('is refused by way of a link to the directory, too; after the end of the first it starts', async () => {
    const server = await startServer({ config });
    const link = join(await folder, 'link');
    await symlink(server.dataDir, link);
    try {
      assert.equal((await begin('--data-dir', link)).code, 2);
      await server.kill9();
      await server.restart();
    } finally {
      await server.stop();
    }
  });

  test('a port that is taken, a host that is none, a folder that cannot be made: one sentence each', async () => {
    const server = await startServer({ config });
    try {
      const tries: [string[], RegExp][] = [
        [['--data-dir', join(await folder, 'a'), '--port', String(server.port)], /Port \d+ .* in use/],
        [['--data-dir', join(await folder, 'b'), '--host', '203.0.113.77'], /no address of this machine/],
        [['--data-dir', '/proc/none'], /\/proc\/none/],
        [['--data-dir', '/dev/null/x'], /\/dev\/null/],
        [['--nonsense'], /nonsense/],
        [['--port', 'x'], /port/i],
        [['--config', '/nowhere.ini'], /nowhere\.ini/],
      ];
      for (const [args, words] of tries) {
        const { output, code } = await begin(...args);
        assert.notEqual(code, 0, args.join(' '));
        assert.match(output, words);
        assert.doesNotMatch(output, /\n\s+at /, output);
      }
      for (const name of ['a', 'b']) assert.deepEqual(await listLeftovers(join(await folder, name)), []);
    } finally {
      await server.stop();
    }
  });
});
