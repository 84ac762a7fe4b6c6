/**
 * An emulation that was disturbed makes the verdict void, although all checks hold: by a fabric that stands still, by a real-time
 * process that takes its processor, and by a disk that does not take what is captured. One that was not disturbed never does.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, truncate, writeFile } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { after, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ServerClient } from '../../cli/server-client.ts';
import { checkApi } from '../../cli/test/check-api.ts';
import type { CheckApi } from '../../lab/checks/api/check-api.ts';
import type { TestReport } from '../../lab/checks/report/test-report.ts';
import { findFirstFailure } from '../../lab/checks/run/step-report.ts';
import { testLab } from '../../lab/checks/test-lab.ts';
import { filesOf } from '../../lab/file/lab-files.ts';
import { loadLab } from '../../lab/file/load-lab.ts';
import { missingPrograms } from '../support/missing-programs.ts';
import { startServer } from '../support/server.ts';

const run = promisify(execFile);
/** A quiet run lasts so long; an hour by `PATCHBAY_TEST_QUIET_SECONDS=3600`, on a host that does nothing else. */
const { PATCHBAY_TEST_QUIET_SECONDS: givenSeconds } = process.env;
const quietSeconds = Number(givenSeconds ?? 4);
const diskBytes = 96 * 1024 * 1024;

const folder = await mkdtemp(join(tmpdir(), 'pb-void-'));
/** Projects are on a disk of their own where this process may mount one: it can be stopped. */
const disk = join(folder, 'disk');
const diskGuard = guardDisk();
const noDisk = await mountDisk();
const removeDisk = async () => {
  diskGuard.stdin.end();
  assert.deepEqual(await once(diskGuard, 'close'), [0, null]);
};
const server = await startServer({
  config: { Qemu: { acceleration: 'off' }, Server: { projects_path: join(disk, 'projects'), min_free_bytes: 0 } },
}).catch(async (error: unknown) => {
  await removeDisk();
  throw error;
});
after(async () => {
  await server.stop();
  await removeDisk();
});
const client = new ServerClient({ url: server.url });

/**
 * Thaws, unmounts and removes the disk at the end of its input, which is also the end of this process, by whatever signal. Without the
 * variables of the runner it is none of the processes that the runner ends.
 */
function guardDisk() {
  const script = `trap '' HUP INT TERM; cat > /dev/null; fsfreeze -u "$0/disk"; umount "$0/disk" || umount -l "$0/disk"
    exec rm -rf --one-file-system "$0"`;
  return spawn('sh', ['-c', script, folder], { env: { PATH: process.env.PATH }, stdio: ['pipe', 'ignore', 'ignore'] });
}

async function mountDisk(): Promise<string | undefined> {
  const image = join(folder, 'disk.img');
  try {
    await writeFile(image, '');
    await truncate(image, diskBytes);
    await run('mkdir', [disk]);
    await run('mkfs.ext2', ['-q', '-F', image]);
    await run('mount', ['-o', 'loop', image, disk]);
    return undefined;
  } catch (error) {
    return `a file system cannot be mounted here: ${(error as Error).message.split('\n').at(-2) ?? error}`;
  }
}

async function runLab(text: string, api = checkApi(client)): Promise<TestReport> {
  const lab = await loadLab({ text, file: 'lab.yaml', files: filesOf({}), vars: {} });
  const signal = AbortSignal.timeout(quietSeconds * 1000 + 110_000);
  return testLab(api, lab, { seed: 7, base: folder, signal, cleanup: client });
}

/** Two stations, and as many checks: none depends on how quickly frames pass. `filters` of the link between them. */
const lab = (traffic: string, { filters = '{}', fidelity = '{}' } = {}) => `
name: disturbed
nodes:
  SW[1-2]: { kind: ethernet_switch }
links: [{ ends: [SW1, SW2], filters: ${filters} }]
checks:
  - { name: first, traffic: { ${stations}, rate: 10, for: 100ms }, expect: { loss: 0%..100% } }
  - ${traffic}
test: { fidelity: ${fidelity} }
`;
const stations = 'from: { at: SW1, address: 10.0.0.1 }, to: { at: SW2, address: 10.0.0.2 }';
const second = `{ name: second, traffic: { ${stations}, rate: 50, for: 1s }, expect: { loss: 0%..100% } }`;

const reasonsOf = (report: TestReport) => report.certificate?.reasons.join('\n') ?? '';

async function fabricPid(): Promise<number> {
  return (await client.json<{ fabric_pid: number }>('GET', '/v2/computes/local/fidelity')).fabric_pid;
}

/** Runs the lab, and `disturb` once, while the traffic of its first check is sent; the lab continues when it is over. */
async function disturbed(text: string, disturb: () => Promise<void>): Promise<TestReport> {
  const plain = checkApi(client);
  let disturbing: Promise<void> | undefined;
  const json = async <T>(...request: Parameters<CheckApi['json']>) => {
    const reply = await plain.json<T>(...request);
    if (request[1].endsWith('/traffic')) {
      disturbing ??= disturb();
      await disturbing;
    }
    return reply;
  };
  const report = await runLab(text, { ...plain, json });
  assert.equal(findFirstFailure(report.steps), undefined);
  return report;
}

test('a quiet emulation is not void', async (t) => {
  const traffic = `{ traffic: { ${stations}, rate: 50, for: ${Math.min(quietSeconds, 600)}s }, expect: { loss: 0%..100% } }`;
  const rounds = Array.from({ length: Math.ceil(quietSeconds / 600) }, () => traffic).join('\n  - ');
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const report = await runLab(lab(rounds, { filters: '{ delay: 5ms, packet_loss: 10% }' }));
  delay.disable();
  assert.equal(findFirstFailure(report.steps), undefined);
  // Other tests may keep the host busy. What does not depend on that holds always, and times where this process was served in time.
  const [worstMs, load] = [delay.max / 1e6, loadavg()[0] ?? 0];
  const all = report.certificate?.reasons ?? [];
  const isStolen = all.some((reason) => reason.includes('withheld'));
  const isBusy = givenSeconds === undefined && (isStolen || worstMs > 20 || load > availableParallelism() / 2);
  const reasons = all.filter((reason) => !isBusy || !/ms late|withheld/.test(reason));
  assert.deepEqual(reasons, [], `load ${load}, this process was ${worstMs} ms late`);
  if (isBusy) t.diagnostic(`the host was busy: load ${load}, this process was ${worstMs} ms late`);
  else assert.equal(report.verdict, 'passed');
});

describe('a disturbed emulation is void, though all checks hold', () => {
  test('a fabric that stands still', async () => {
    const pid = await fabricPid();
    const report = await disturbed(lab(second, { fidelity: '{ loop_late_worst: 1s }' }), async () => {
      process.kill(pid, 'SIGSTOP');
      await pause(1500);
      process.kill(pid, 'SIGCONT');
    });
    assert.equal(report.verdict, 'void');
    assert.match(reasonsOf(report), /the fabric was \d+(\.\d+)? ms late \(worst\), at most 1000 ms/);
  });

  const noRealTime = async () =>
    (availableParallelism() < 2 ? 'nothing else would run on the only processor' : undefined) ??
    (await missingPrograms(['chrt', 'util-linux'], ['taskset', 'util-linux'], ['timeout', 'coreutils'])) ??
    (await run('chrt', ['-f', '50', 'taskset', '-c', '0', 'true']).then(
      () => undefined,
      () => 'real-time priority is not allowed here',
    ));

  test('a real-time process that takes the processor of the fabric', async (t) => {
    const problem = await noRealTime();
    if (problem !== undefined) return t.skip(problem);
    // Only one processor: the rest of the host keeps working.
    await run('taskset', ['-a', '-c', '-p', '0', String(await fabricPid())]);
    const report = await disturbed(lab(second, { filters: '{ delay: 5ms }' }), async () => {
      const hog = ['chrt', '-f', '50', 'taskset', '-c', '0', 'sh', '-c', 'while :; do :; done'];
      // Shorter than the second in which the kernel leaves other processes 50 ms. What ends it has the higher priority.
      await once(spawn('chrt', ['-f', '51', 'timeout', '-s', 'KILL', '0.7', ...hog]), 'close');
    });
    assert.equal(report.verdict, 'void');
    assert.match(reasonsOf(report), /the fabric was \d+(\.\d+)? ms late \(worst\), at most 200 ms/);
  });

  test('a disk that is slower than what is captured', async (t) => {
    const problem = noDisk ?? (await missingPrograms(['fsfreeze', 'util-linux'], ['tcpdump', 'tcpdump']));
    if (problem !== undefined) return t.skip(problem);
    const freeze = (how: '-f' | '-u') => run('fsfreeze', [how, disk]);
    const plain = checkApi(client);
    let isFrozen = false;
    const thaw = async () => {
      if (isFrozen) await freeze('-u');
      isFrozen = false;
    };
    // The disk stands still from the moment the capture has begun until its figures were read.
    const api: CheckApi = {
      ...plain,
      stream: async (path, signal) => {
        await freeze('-f');
        isFrozen = true;
        return plain.stream(path, signal);
      },
      json: async <T>(...request: Parameters<CheckApi['json']>) => {
        try {
          return await plain.json<T>(...request);
        } finally {
          if (request[1].endsWith('/stats')) await thaw();
        }
      },
    };
    // 46 MB: more than the 32 MiB that the fabric keeps.
    const flood = `{ traffic: { ${stations}, rate: 10000, for: 3s, size: 1514 }, expect: { loss: 0%..100% } }`;
    try {
      const report = await runLab(lab(`{ capture: { link: [SW1, SW2], while: [${flood}] } }`), api);
      assert.deepEqual([findFirstFailure(report.steps)?.problems, report.verdict], [undefined, 'void']);
      assert.match(reasonsOf(report), /the capture of SW1:.* missed \d+ frames, at most 0 are allowed/);
    } finally {
      await thaw();
    }
  });
});
