/** DNS and HTTP over a satellite line, between containers of a real engine; and the mistakes that its checks find. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { after, describe, test } from 'node:test';
import { ServerClient } from '../../src/cli/server-client.ts';
import { checkApi } from '../../src/cli/test/check-api.ts';
import type { TestReport } from '../../src/lab/checks/report/test-report.ts';
import { findFirstFailure } from '../../src/lab/checks/run/step-report.ts';
import { testLab } from '../../src/lab/checks/test-lab.ts';
import { filesOf } from '../../src/lab/file/lab-files.ts';
import { loadLab } from '../../src/lab/file/load-lab.ts';
import { DockerEngine, noEngine, withLibraries } from '../support/docker-engine.ts';
import { assertSameVerdict, skipTwice } from '../support/same-verdict.ts';
import { withServer } from '../support/with-server.ts';

const labs = resolve(import.meta.dirname, '../../labs');
const skip = await noEngine(['dnsmasq', 'dnsmasq-base'], ['tcpdump', 'tcpdump']);
const engine = skip === undefined ? await DockerEngine.start() : undefined;
after(() => engine?.stop());
const { server } = await withServer({ config: { Docker: { socket_path: engine?.socket ?? '/nowhere/docker.sock' } } });
const client = new ServerClient({ url: server.url });
const images = { client_image: 'pb-client', server_image: 'pb-server' };
/** This machine may be busy. */
const patient = {
  loop_late_p99: '1m',
  loop_late_worst: '1m',
  delay_error_p50: '1m',
  delay_error_p99: '1m',
  delay_error_worst: '1m',
};

async function run(vars: Record<string, string>): Promise<TestReport> {
  const text = await readFile(join(labs, 'dns-satellite.yaml'), 'utf8');
  const lab = await loadLab({ text, file: 'dns-satellite.yaml', files: filesOf({}), vars: { ...images, ...vars } });
  return testLab(
    checkApi(client),
    { ...lab, test: { ...lab.test, fidelity: patient } },
    { seed: 7, base: labs, signal: AbortSignal.timeout(170_000), cleanup: client },
  );
}

describe('DNS over a satellite line', { skip, concurrency: true, timeout: 200_000 }, async () => {
  const install = 'RUN ["/bin/busybox", "sh", "-c", "/bin/busybox --install -s /bin; echo root:x:0: > /etc/group"]';
  const lines = [install, 'CMD ["/bin/sh"]', 'STOPSIGNAL SIGKILL'];
  await engine?.makeImage('pb-client:latest', lines);
  await engine?.makeImage('pb-server:latest', lines, await withLibraries('dnsmasq'));

  test('passed; the certificate counts the frames that the line held', async () => {
    const report = await run({});
    assert.equal(report.verdict, 'passed', JSON.stringify([findFirstFailure(report.steps), report.certificate?.reasons]));
    // Each direction carries at least the answered ones of ten pings.
    const held = report.certificate?.links.filter(({ delayError }) => delayError.count >= 6) ?? [];
    assert.equal(held.length, 2, JSON.stringify(report.certificate?.links));
  });

  test('the same seed gives the same verdict', { skip: skipTwice }, async () => {
    assertSameVerdict(await run({}), await run({}));
  });

  // Each check waits for answers that are lost.
  test('too much loss makes its check fail', { skip: skipTwice }, async () => {
    const { verdict, steps } = await run({ loss: '95%' });
    assert.equal(verdict, 'failed');
    assert.match(findFirstFailure(steps)?.name ?? '', /as long as a satellite/);
  });

  test('a wrong record makes its check fail', async () => {
    const report = await run({ record: '10.0.0.99', loss: '0%' });
    assert.equal(report.verdict, 'failed');
    assert.match(findFirstFailure(report.steps)?.name ?? '', /the name resolves/);
  });

  test('a line that is too short makes its check fail', async () => {
    const { verdict, steps } = await run({ delay: '20ms' });
    assert.equal(verdict, 'failed');
    assert.match(findFirstFailure(steps)?.name ?? '', /as long as a satellite/);
  });
});
