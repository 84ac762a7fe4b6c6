/** The stand-in of the tests and, where it is installed, Dynamips itself answer as the recording of Dynamips 0.2.24 has it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { everyRouter } from '../../../test/support/dynamips/every-router.ts';
import {
  buildStandIn,
  compilerObstacle,
  type Exchange,
  readRecording,
  realDynamips,
} from '../../../test/support/dynamips/programs.ts';
import { takePortBlock } from '../../../test/support/port-block.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import { commandLine, Hypervisor, HypervisorError } from './hypervisor.ts';
import { sendAll } from './launch.ts';
import { routerDefaults, withBoards } from './properties.ts';
import { pluggedModules, routerCommands } from './router-commands.ts';

const obstacle = await compilerObstacle();
const standIn = obstacle === undefined ? await buildStandIn() : undefined;
const real = await realDynamips();

const programs = [
  { name: 'the stand-in', path: standIn, skip: obstacle },
  { name: 'dynamips', path: real, skip: real === undefined ? 'no dynamips is installed' : undefined },
];

/** Runs the program with its control port, gives both to `work`, and ends it. */
async function whileRunning(
  path: string,
  work: (port: number, place: { folder: string; udpPort: number }) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'pb-dynamips-'));
  const block = await takePortBlock();
  const port = Number(block.settings.console_start_port_range);
  const args = ['-N1', '-l', join(folder, 'dynamips.log'), '-H', `127.0.0.1:${port}`];
  const child = spawn(path, args, { cwd: folder, stdio: 'ignore' });
  const ended = once(child, 'exit');
  try {
    const first = await waitFor(() => Hypervisor.connect(port).catch(() => undefined), { what: 'its control port' });
    first.close();
    await work(port, { folder, udpPort: Number(block.settings.udp_start_port_range) });
  } finally {
    child.kill('SIGKILL');
    await ended;
    await block.release();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Sends the commands one after the other and collects the lines of the answers. */
async function replay(port: number, exchanges: readonly Exchange[]): Promise<Exchange[]> {
  const socket = connect({ port, host: '127.0.0.1' });
  const lines = createInterface({ input: socket, crlfDelay: Number.POSITIVE_INFINITY })[Symbol.asyncIterator]();
  const said: Exchange[] = [];
  for (const { command } of exchanges) {
    const answer: string[] = [];
    socket.write(`${command}\n`);
    while (!/^\d{3}-/.test(answer.at(-1) ?? '')) {
      const { value, done } = await lines.next();
      assert.ok(!done, `the connection ended instead of an answer to ${command}`);
      answer.push(value);
    }
    said.push({ command, answer });
  }
  socket.destroy();
  return said;
}

/** The version of the program that runs stands in place of the recorded one. */
const anyVersion = (exchanges: readonly Exchange[]) =>
  exchanges.map((exchange) => (exchange.command === 'hypervisor version' ? { ...exchange, answer: ['100-version'] } : exchange));

for (const { name, path, skip } of programs) {
  test(`${name} answers every recorded command as it was recorded`, { skip }, () =>
    whileRunning(String(path), async (port, { folder, udpPort }) => {
      const recorded = await readRecording(folder, udpPort);
      assert.ok(recorded.length > 80, 'the recording is complete');
      const said = await replay(port, recorded);
      assert.deepEqual(anyVersion(said), anyVersion(recorded));
    }),
  );

  test(`${name}: rows, texts and failures arrive at the command that asked`, { skip }, () =>
    whileRunning(String(path), async (port) => {
      const hypervisor = await Hypervisor.connect(port);
      const created = hypervisor.ask('vm', 'create', 'R 1', 1, 'c3725');
      const [first, unknown, bindings] = await Promise.allSettled([
        created,
        hypervisor.ask('vm', 'no_such_command', 'R 1'),
        hypervisor.ask('vm', 'slot_bindings', 'R 1'),
      ]);
      assert.deepEqual(first.status === 'fulfilled' && first.value, { rows: [], text: "VM 'R 1' created" });
      assert.ok(unknown.status === 'rejected' && unknown.reason instanceof HypervisorError);
      assert.equal(unknown.reason.code, 202);
      assert.deepEqual(bindings.status === 'fulfilled' && bindings.value.rows, ['0/0: GT96100-FE']);
      await hypervisor.ask('hypervisor', 'stop');
      await assert.rejects(hypervisor.ask('hypervisor', 'version'), /control (connection|port)/);
    }),
  );
}

for (const { name, path, skip } of programs) {
  test(`${name} takes the definition of every platform, chassis, module and WIC`, { skip }, () =>
    whileRunning(String(path), async (port, { folder }) => {
      const hypervisor = await Hypervisor.connect(port);
      await hypervisor.ask('hypervisor', 'working_dir', folder);
      for (const [index, given] of everyRouter().entries()) {
        const properties = withBoards({ ...routerDefaults(given), ...given, dynamips_id: index + 1, ram: 128 });
        const facts = { name: 'R', properties, hasAux: true, mmap: true, sparsemem: true };
        await sendAll(hypervisor, routerCommands(facts, crypto.randomUUID()));
        const { rows } = await hypervisor.ask('vm', 'slot_bindings', 'R');
        for (const { slot, sub, module } of pluggedModules(properties))
          assert.ok(rows.includes(`${slot}/${sub}: ${module}`), module);
        await hypervisor.ask('vm', 'delete', 'R');
      }
      hypervisor.close();
    }),
  );
}

test('a link in the place of the control socket is not followed to another socket', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-dynamips-'));
  t.after(() => rm(folder, { recursive: true }));
  let reached = 0;
  const other = createServer((socket) => {
    reached++;
    socket.destroy();
  }).listen(join(folder, 'other'));
  t.after(() => other.close());
  await once(other, 'listening');
  await symlink('other', join(folder, 'control'));
  await assert.rejects(Hypervisor.connect(join(folder, 'control')), /control port cannot be reached: ENOTSOCK/);
  assert.equal(reached, 0);
});

test('a connection that was lost is made again for the next command', async () => {
  let connections = 0;
  const server = createServer((socket) => {
    const isFirst = ++connections === 1;
    socket.on('data', () => (isFirst ? socket.destroy() : socket.write('101 row\r\n100-OK\r\n')));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const hypervisor = await Hypervisor.connect((server.address() as AddressInfo).port);
  await assert.rejects(hypervisor.ask('vm', 'list'), { code: 0 });
  assert.deepEqual(await hypervisor.ask('vm', 'list'), { rows: ['row'], text: 'OK' });
  hypervisor.close();
  await assert.rejects(hypervisor.ask('vm', 'list'), /is closed/);
  server.close();
});

test('an answer without an end is not collected: the connection is ended, and made again for the next command', async () => {
  const rows = '101 row\r\n'.repeat(10_000);
  let connections = 0;
  const server = createServer((socket) => {
    const isFirst = ++connections === 1;
    const more = (): void => {
      if (socket.writable) socket.write(rows, more);
    };
    socket.on('error', () => undefined);
    socket.on('data', () => (isFirst ? more() : socket.write('100-OK\r\n')));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const hypervisor = await Hypervisor.connect((server.address() as AddressInfo).port);
  await assert.rejects(hypervisor.ask('vm', 'list'), { code: 0 });
  assert.deepEqual(await hypervisor.ask('vm', 'list'), { rows: [], text: 'OK' });
  hypervisor.close();
  server.close();
});

test('a word that would end the command is not sent', () => {
  assert.equal(commandLine(['vm', 'set_ios', 'R1', '/a folder/c3725.bin', 64]), 'vm set_ios R1 "/a folder/c3725.bin" 64');
  for (const word of ['a"b', 'a\nvm stop R1', 'a\r']) assert.throws(() => commandLine(['vm', word]), HypervisorError);
});
