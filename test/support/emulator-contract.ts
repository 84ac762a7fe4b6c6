/**
 * Promises that every kind with a process of its own must keep: the same tests over each driver, against the real program. A kind's
 * `driver.test.ts` calls `emulatorContract` with what only it knows. A skip has its reason.
 */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import type { Emulator, Properties } from '../../src/emulators/driver.ts';
import { endMarked, listMarked } from '../../src/process/orphans.ts';
import { isRunning } from '../../src/process/proc.ts';
import type { Settings } from '../../src/schema/settings.ts';
import { Bench, type BenchOptions, contractHost, startWith } from './contract-bench.ts';

type ContractTest =
  | 'create'
  | 'start'
  | 'ports'
  | 'console'
  | 'stop'
  | 'stop now'
  | 'adopt'
  | 'adopt dead'
  | 'broken'
  | 'killed'
  | 'release';

export interface ContractOptions extends BenchOptions {
  /** Input for the console and its expected output; if absent, any output is accepted. */
  readonly console?: { readonly type: string; readonly shows: RegExp };
  /** Makes the start fail: by other settings, or by other properties. */
  readonly broken: { readonly settings?: (settings: Settings) => Settings; readonly properties?: Properties };
  /** Test to the reason why this kind does without. */
  readonly skip?: Partial<Record<ContractTest, string>>;
}

type ContractBench = Bench<ContractOptions>;

const limitMs = 15_000;

export function emulatorContract(options: ContractOptions): void {
  let folder: string;
  let bench: ContractBench;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pb-'));
  });
  beforeEach(async () => {
    await rm(folder, { recursive: true });
    await mkdir(folder);
    bench = new Bench(options, folder);
  });
  afterEach(async () => {
    // A test that failed half-way must not leave its emulator behind.
    await endMarked(await listMarked(bench.host.settings.runtimeDirectory), 0);
    await bench.host.images.close();
  });
  after(() => rm(folder, { recursive: true, force: true }));

  for (const [name, [what, run]] of Object.entries(contractTests)) {
    const reason = options.skip?.[name as ContractTest];
    test(`${options.kind.type}: ${what}`, reason === undefined ? {} : { skip: reason }, () => run(bench));
  }
}

const contractTests = {
  create: [
    'creating completes the properties and leaves nothing behind',
    async (bench) => {
      const properties = await bench.create();
      assert.doesNotThrow(() => JSON.stringify(properties));
      assert.deepEqual(await bench.driver.update(properties, {}, bench), properties);
      assert.deepEqual(await readdir(bench.folder), []);
      await bench.assertNothingRuns();
    },
  ],

  start: [
    'a started node runs, says how, and has a record that JSON can keep',
    async (bench) => {
      const { emulator } = await bench.start();
      assert.equal(emulator.state, 'started');
      assert.ok(bench.options.kind.alwaysRunning || emulator.commandLine.length > 0);
      assert.deepEqual(JSON.parse(JSON.stringify(emulator.record)), emulator.record);
      assert.ok((await listMarked(bench.host.settings.runtimeDirectory)).length > 0, 'its processes carry the marker');
      await emulator.stop({ now: true });
    },
  ],

  ports: [
    'its first port is one the fabric can use, and others do not exist',
    async (bench) => {
      const { emulator } = await bench.start();
      const spec = emulator.port(0, 0);
      assert.ok(spec);
      if (spec.type === 'stream') {
        assert.ok(Buffer.byteLength(spec.path) <= 107, 'length of the socket path');
        assert.ok((await stat(spec.path)).isSocket());
      } else if (spec.type === 'udp') {
        for (const port of [spec.lport, spec.rport]) assert.ok(bench.host.udpPorts.has(port), `${port} is taken`);
        assert.equal(spec.bind, spec.rhost);
      }
      assert.equal(bench.options.kind.can.addressesByPort ? emulator.port(0, 1) : emulator.port(1000, 0), undefined);
      await emulator.stop({ now: true });
    },
  ],

  console: [
    'its console answers',
    async (bench) => {
      const { emulator } = await bench.start();
      await consoleShows(emulator, bench.options);
      await emulator.stop({ now: true });
    },
  ],

  stop: ['stopping leaves nothing', (bench) => stopsCleanly(bench, false)],
  'stop now': ['forcing an end leaves nothing', (bench) => stopsCleanly(bench, true)],

  killed: [
    'a process that is killed is noticed, and nothing is left',
    async (bench) => {
      const { emulator } = await bench.start();
      process.kill(mainProcess(emulator).pid, 'SIGKILL');
      const ending = await emulator.ended;
      assert.equal(ending.how, 'failed');
      assert.match(ending.reason, /SIGKILL/);
      await bench.assertNothingRuns();
    },
  ],

  adopt: [
    'after a restart of the server it is taken over, works, and stops',
    async (bench) => {
      const { emulator, view } = await bench.start();
      emulator.release();
      const host = contractHost(bench.folder, bench.options.firstPort);
      const adopted = await bench.options.makeDriver(host).adopt(view, JSON.parse(JSON.stringify(emulator.record)));
      assert.ok(adopted);
      assert.equal(adopted.commandLine, emulator.commandLine);
      assert.deepEqual(adopted.port(0, 0), emulator.port(0, 0));
      assert.deepEqual(host.tcpPorts.taken(), bench.host.tcpPorts.taken());
      assert.deepEqual(host.udpPorts.taken(), bench.host.udpPorts.taken());
      await consoleShows(adopted, bench.options);
      await adopted.stop();
      assert.equal((await adopted.ended).how, 'stopped');
      await bench.assertNothingRuns(host);
      await host.images.close();
    },
  ],

  'adopt dead': [
    'one that died while the server was away is not taken over, and nothing of it is left',
    async (bench) => {
      const { emulator, view } = await bench.start();
      process.kill(mainProcess(emulator).pid, 'SIGKILL');
      await emulator.ended;
      const host = contractHost(bench.folder, bench.options.firstPort);
      assert.equal(await bench.options.makeDriver(host).adopt(view, emulator.record), undefined);
      await bench.assertNothingRuns(host);
      await host.images.close();
    },
  ],

  release: [
    'letting go leaves it running',
    async (bench) => {
      const { emulator } = await bench.start();
      emulator.release();
      const { pid, startTime } = mainProcess(emulator);
      assert.ok(isRunning(pid, startTime));
      await emulator.stop({ now: true });
    },
  ],

  broken: [
    'a start that fails says why and leaves nothing',
    async (bench) => {
      const { broken, firstPort, makeDriver } = bench.options;
      const properties = await bench.create(broken.properties);
      const host = contractHost(bench.folder, firstPort, broken.settings);
      const view = await bench.view(properties);
      const began = performance.now();
      const error = await startWith(makeDriver(host), view).then(
        async (emulator) => {
          // A container that is not ready after three seconds counts as started, and ends later.
          assert.ok(performance.now() - began >= 3000, 'the start was answered before it failed');
          const { how, reason } = await emulator.ended;
          return { name: how === 'failed' ? 'Fault' : how, message: reason };
        },
        (refused: Error) => refused,
      );
      assert.ok(error.name === 'Fault' && error.message.length > 20, `${error.name}: ${error.message}`);
      await bench.assertNothingRuns(host);
      await host.images.close();
    },
  ],
} as const satisfies Record<string, readonly [what: string, run: (bench: ContractBench) => Promise<void>]>;

async function stopsCleanly(bench: ContractBench, now: boolean): Promise<void> {
  const { emulator } = await bench.start();
  await emulator.stop({ now });
  assert.equal((await emulator.ended).how, 'stopped');
  await bench.assertNothingRuns();
  await emulator.stop();
}

/** Every record names the main process in `pid`; where ports have processes of their own, in that of the port. */
function mainProcess({ record }: Emulator): { pid: number; startTime: number } {
  const main = record as { pid: number; startTime: number; ports?: Record<string, { pid: number; startTime: number }> };
  const { pid, startTime } = typeof main.pid === 'number' ? main : (main.ports?.['0'] ?? main);
  assert.ok(pid > 1, 'record.pid');
  return { pid, startTime };
}

async function consoleShows(emulator: Emulator, { kind, console: talk }: ContractOptions): Promise<void> {
  if (kind.consoleTypes.length === 0) return;
  const source = emulator.console();
  assert.ok(source, 'it has a console');
  const socket = source.type === 'tcp' ? connect(source.port, '127.0.0.1') : connect(source.path);
  let shown = '';
  try {
    await new Promise<void>((resolve, reject) => {
      const limit = setTimeout(() => reject(new Error(`the console showed only ${JSON.stringify(shown)}`)), limitMs);
      socket.on('error', reject);
      socket.on('connect', () => socket.write(talk?.type ?? '\r'));
      socket.on('data', (bytes) => {
        shown += bytes.toString('latin1');
        if ((talk?.shows ?? /./s).test(shown)) {
          clearTimeout(limit);
          resolve();
        }
      });
    });
  } finally {
    socket.destroy();
  }
}
