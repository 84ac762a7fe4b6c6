/** `patchbay test` on a real server: verdicts of labs, of their mutations, and of mistakes. Void ones are in `void-verdicts.test.ts`. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, describe, test } from 'node:test';
import { SaxesParser } from 'saxes';
import { ServerClient } from '../../cli/server-client.ts';
import { checkApi } from '../../cli/test/check-api.ts';
import { writeReport } from '../../cli/test/write-report.ts';
import type { TestReport } from '../../lab/checks/report/test-report.ts';
import { findFirstFailure, type StepReport } from '../../lab/checks/run/step-report.ts';
import { testLab } from '../../lab/checks/test-lab.ts';
import { filesOf } from '../../lab/file/lab-files.ts';
import { loadLab } from '../../lab/file/load-lab.ts';
import { fileHeader } from '../../src/schema/pcap-file.ts';
import { missingPrograms } from '../support/missing-programs.ts';
import { patientFidelity, patientTest } from '../support/patient-fidelity.ts';
import { wholeFrames } from '../support/pcap.ts';
import { assertSameVerdict } from '../support/same-verdict.ts';
import { serverProgram } from '../support/server.ts';
import { withServer } from '../support/with-server.ts';

const root = resolve(import.meta.dirname, '../..');
const folder = await mkdtemp(join(tmpdir(), 'pb-verdicts-'));
after(() => rm(folder, { recursive: true, force: true }));
const noPackets = await missingPrograms(['tcpdump', 'tcpdump']);
const { server } = await withServer();
const client = new ServerClient({ url: server.url });

interface RunOptions {
  readonly vars?: Record<string, string | number>;
  readonly onStep?: (step: StepReport) => void;
  /** Folder of the lab file. */
  readonly base?: string;
}

/** Packets at these ms, of these lengths. */
function pcapFile(times: readonly number[], lengths: readonly number[]): Buffer {
  const packets = times.map((ms, index) => {
    const length = lengths[index] ?? 60;
    const packet = Buffer.alloc(16 + length);
    for (const [at, value] of [1_700_000_000, ms * 1000, length, length].entries()) packet.writeUInt32LE(value, 4 * at);
    return packet;
  });
  return Buffer.concat([fileHeader({ linkType: 1, nanoseconds: false }), ...packets]);
}

async function runLab(file: string, { vars = {}, onStep, base = join(root, 'labs') }: RunOptions = {}): Promise<TestReport> {
  const text = file.includes('\n') ? file : await readFile(join(root, 'labs', file), 'utf8');
  const lab = await loadLab({ text, file: 'lab.yaml', files: filesOf({}), vars });
  const fidelity = { ...patientFidelity, ...lab.test.fidelity };
  return testLab(
    checkApi(client),
    { ...lab, test: { ...lab.test, fidelity } },
    { seed: 7, base, signal: AbortSignal.timeout(110_000), cleanup: client, ...(onStep && { onStep }) },
  );
}

const pair = `
name: pair
nodes:
  PC[1-2]: { kind: vpcs, config: "ip 10.0.0.\${index}/24\\n" }
links: [[PC1, PC2]]
`;

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** The program, until it ends; `onOutput` may end it earlier. */
function patchbay(args: readonly string[], onOutput: (text: string, pid: number) => void = () => undefined): Promise<Ended> {
  const child = spawn(process.execPath, [serverProgram, ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      onOutput(output, child.pid ?? 0);
    });
  }
  return new Promise((done) => child.once('close', (code) => done({ code, output })));
}

const projects = () => client.json<{ name: string }[]>('GET', '/v2/projects');

describe('verdicts', { concurrency: true }, () => {
  test('VLANs on a lossy trunk: passed, with reports that others can read', { skip: noPackets }, async () => {
    const report = await runLab('vlan-trunk.yaml');
    assert.equal(report.verdict, 'passed', JSON.stringify([findFirstFailure(report.steps), report.certificate?.reasons]));
    const losses = report.certificate?.links.flatMap((link) => link.losses) ?? [];
    assert.ok(
      losses.some(({ percent, frames, lost }) => percent === 10 && frames > 20 && lost > 0),
      JSON.stringify(losses),
    );
    const artifacts = join(folder, 'artifacts');
    await writeReport(report, { junit: undefined, html: undefined, artifacts });
    const xml = await readFile(join(artifacts, 'junit.xml'), 'utf8');
    new SaxesParser().write(xml).close();
    assert.match(xml, /tests="9" failures="0" errors="0" skipped="0"/);
    const html = await readFile(join(artifacts, 'report.html'), 'utf8');
    for (const part of ['<svg', 'vlan-trunk', 'Fidelity certificate', 'answered by 10.0.0.3', 'vlan 10'])
      assert.ok(html.includes(part), part);
    assert.deepEqual((await readdir(join(artifacts, 'consoles'))).toSorted(), ['PC1.txt', 'PC2.txt', 'PC3.txt']);
    assert.equal((await readdir(join(artifacts, 'captures'))).length, 1);
  });

  test('VLANs on a lossy trunk: the same seed gives the same verdict', { skip: noPackets }, async () => {
    const [one, other] = await Promise.all([runLab('vlan-trunk.yaml'), runLab('vlan-trunk.yaml')]);
    assertSameVerdict(one, other);
  });

  test('VLANs on a lossy trunk: the wrong VLAN makes its check fail', { skip: noPackets }, async () => {
    const report = await runLab('vlan-trunk.yaml', { vars: { vlan_of_pc3: 20 } });
    assert.equal(report.verdict, 'failed');
    const first = findFirstFailure(report.steps);
    assert.match(first?.name ?? '', /both in VLAN 10/);
    assert.match(first?.evidence ?? '', /not reachable/);
  });

  test('VLANs on a lossy trunk: too much loss makes its check fail', { skip: noPackets }, async () => {
    const report = await runLab('vlan-trunk.yaml', { vars: { loss: '80%' } });
    assert.equal(report.verdict, 'failed');
    assert.match(findFirstFailure(report.steps)?.name ?? '', /both in VLAN 10/);
  });

  test('actions on a timeline, repetition, and certificates of every setting of a link', async () => {
    const report = await runLab(`${pair}
checks:
  - { name: first, node: PC1, ping: { to: 10.0.0.2, count: 2 }, eventually: 20s }
  - { name: learned, node: PC1, neighbour: 10.0.0.2 }
  - timeline:
      - { name: through, node: PC1, ping: { to: 10.0.0.2, count: 40, interval: 50ms, timeout: 100ms }, expect: { loss: 5%..95% } }
      - { at: 500ms, suspend: [PC1, PC2] }
      - { at: 1500ms, resume: "PC2:Ethernet0" }
  - { impair: { link: [PC1, PC2], filters: { delay: 60ms, loss: 0% } } }
  - { name: slow, node: PC1, ping: { to: 10.0.0.2, count: 5, interval: 50ms, timeout: 5s }, expect: { rtt: ">= 119ms" } }
  - { name: closed, node: PC2, ping: { to: 10.0.0.1, count: 1, timeout: 5s }, never: 1s, every: 200ms, expect: { received: 0 } }
  - { kill: PC2 }
  - { node: PC1, ping: { to: 10.0.0.2, count: 1 }, expect: { received: 0 } }
  - { start: PC2 }
  - { name: last, node: PC1, ping: { to: 10.0.0.2, count: 1, timeout: 5s }, eventually: 30s }
`);
    assert.equal(report.verdict, 'passed', JSON.stringify([findFirstFailure(report.steps), report.certificate?.reasons]));
    const held = report.certificate?.links.find(({ delays }) => delays.includes('delay 60'));
    assert.ok(held && held.delayError.count >= 5 && held.delayError.worst > 0, JSON.stringify(report.certificate?.links));
  });

  test('a check that cannot be carried out is an error, and later checks still run; a refused change ends the test', {
    skip: noPackets,
  }, async () => {
    const report = await runLab(`${pair}
checks:
  - { name: text, node: PC1, run: show ip, expect: { text: 192.0.2.1 } }
  - { name: refused, node: PC1, run: bogus }
  - { name: filter, capture: { link: [PC1, PC2], filter: "no such thing", while: [{ node: PC1, run: show ip }] } }
  - { name: change, suspend: [PC1, PC2] }
  - { name: json, node: PC1, run: 'echo {"a":[1,2]}', expect: { json: { path: "$.a[1]", equals: 2 } } }
`);
    assert.deepEqual(
      report.steps.map(({ name, outcome }) => `${name} ${outcome}`),
      ['text failed', 'refused failed', 'filter error', 'change passed', 'json passed'],
    );
    assert.equal(report.verdict, 'failed');
    const [text, refused, filter] = report.steps;
    assert.deepEqual(text?.problems, ['the output lacks "192.0.2.1"']);
    assert.deepEqual(refused?.problems, ['the exit code is 1, expected 0']);
    assert.match(filter?.problems[0] ?? '', /^the filter cannot be used: /);
  });

  test('a node that is not ready fails the test, and says what was waited for', async () => {
    const report = await runLab(`${pair}
checks: [{ node: PC1, run: show ip }]
test: { nodes: { PC2: { ready: { run: show ip, expect: { text: 10.9.9.9 } }, ready_within: 8s } } }
`);
    assert.equal(report.verdict, 'failed');
    assert.deepEqual(report.steps, []);
    assert.match(report.ready.find(({ isReady }) => !isReady)?.text ?? '', /^PC2 is not ready within 8s .*lacks "10.9.9.9"/);
  });
});

describe('the same seed', () => {
  const lab = `
name: seeded
nodes:
  SW[1-2]: { kind: ethernet_switch }
# Only the datagrams: how often a station asks for an address depends on the machine.
links: [{ ends: [SW1, SW2], filters: { packet_loss: 30%, match: udp } }]
checks:
  - traffic:
      from: { at: SW1, address: 10.0.0.1 }
      to: { at: SW2, address: 10.0.0.2 }
      pattern: poisson
      for: 2s
    expect: { loss: 10%..50%, delay: ">= 0ms", reordered: 0 }
  - traffic: { from: { at: SW1, address: 10.0.0.1 }, to: { at: SW2, address: 10.0.0.2 }, pattern: burst, rate: 1000, for: 200ms }
    expect: { loss: 0%, gap: <= 1m }
`;

  test('gives the same verdict, and loses the same packets of the same traffic', async () => {
    const [one, other] = [await runLab(lab), await runLab(lab)];
    const counts = (report: TestReport) =>
      report.steps.map(({ outcome, evidence }) => [outcome, /^\d+ of \d+/.exec(evidence)?.[0]]);
    assert.deepEqual(counts(one), counts(other));
    assert.equal(one.verdict, other.verdict);
    const [passed, failed] = one.steps;
    assert.equal(passed?.outcome, 'passed', JSON.stringify(one.steps));
    assert.match(failed?.problems.join() ?? '', /^loss is [\d.]+%, expected 0%$/);
    const losses = one.certificate?.links.flatMap((link) => link.losses) ?? [];
    assert.deepEqual(one.certificate?.reasons, [], JSON.stringify(losses));
  });

  test('traffic has the times and sizes of a pcap file; one that cannot be used is a mistake of the file', async () => {
    const replay = (file: string) =>
      lab.replace(
        /checks:[\s\S]*/,
        `checks:
  - capture:
      link: [SW1, SW2]
      side: before
      filter: udp port 9
      while:
        - traffic: { from: { at: SW1, address: 10.0.0.1 }, to: { at: SW2, address: 10.0.0.2 }, pcap: ${file} }
          expect: { received: 0..3 }
    expect: { packets: 3 }
`,
      );
    await writeFile(join(folder, 'short.pcap'), pcapFile([0, 250, 600], [100, 200, 1000]));
    const report = await runLab(replay('short.pcap'), { base: folder });
    assert.equal(report.verdict, 'passed', JSON.stringify(report.steps));
    const { pcap } = report.steps[0]?.capture ?? {};
    const sent = wholeFrames(pcap ?? Buffer.alloc(0)).filter(({ data }) => data.length > 60);
    assert.deepEqual(
      sent.map(({ data }) => data.length),
      [100, 200, 1000],
    );
    await assert.rejects(runLab(replay('no.pcap'), { base: folder }), /no\.pcap cannot be read: there is no such file/);
    await assert.rejects(runLab(replay('../x.pcap'), { base: folder }), /checks\[0\].*\.traffic\.pcap: .* outside of the folder/);
  });

  test('traffic that cannot be sent is an error with its reason', async () => {
    const report = await runLab(lab.replace('links: [{', 'links: [{ suspend: true,'));
    assert.deepEqual(
      report.steps.map(({ outcome }) => outcome),
      ['error', 'error'],
    );
    assert.match(
      report.steps[0]?.problems.join() ?? '',
      /^traffic could not be sent: 10\.0\.0\.\d does not answer 10\.0\.0\.\d \(ARP\)$/,
    );
  });
});

describe('the program', () => {
  const url = ['--url', server.url];

  test('mistakes end with 2 and name the place; nothing was created', async () => {
    const file = join(folder, 'mistake.yaml');
    await writeFile(file, `${pair}checks:\n  - { node: PC3, ping: 10.0.0.1 }\n`);
    const { code, output } = await patchbay(['test', file, ...url]);
    assert.equal(code, 2, output);
    assert.match(output, /mistake\.yaml:7:\d+: checks\[0\]\.node: there is no node "PC3"/);
    assert.deepEqual(await projects(), []);
  });

  test('Ctrl-C tears the lab down', async () => {
    const file = join(folder, 'endless.yaml');
    await writeFile(file, `${pair}checks:\n  - { node: PC1, run: show ip, always: 10m }\n`);
    let isInterrupted = false;
    const { code, output } = await patchbay(['test', file, ...url], (text, pid) => {
      if (isInterrupted || !text.includes('Running 1 checks')) return;
      isInterrupted = true;
      process.kill(pid, 'SIGINT');
    });
    assert.equal(code, 130, output);
    assert.deepEqual(await projects(), []);
  });

  test('without a server it starts its own, and ends it', async () => {
    const file = join(folder, 'own.yaml');
    await writeFile(file, `${pair}checks:\n  - { node: PC1, ping: 10.0.0.9 }\n${patientTest}`);
    const { code, output } = await patchbay(['test', file, '--isolated', '--junit', 'junit.xml']);
    assert.equal(code, 1, output);
    assert.match(
      output,
      /First failure: ping 10\.0\.0\.9 at PC1\n {2}loss is 100%, expected 0%\n {2}Evidence:\n {2}\| host \(10\.0\.0\.9\) not reachable/,
    );
    assert.match(await readFile(join(folder, 'junit.xml'), 'utf8'), /<failure message="loss is 100%/);
  });
});
