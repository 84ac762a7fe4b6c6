/**
 * The worked labs of routers, between containers of a real engine: their checks hold, and mistakes in the running lab make the right
 * check fail. A mistake is made by configuration, so that a lab is started once.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { after, describe, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { ServerClient } from '../../cli/server-client.ts';
import { checkApi } from '../../cli/test/check-api.ts';
import { ensureImage, loadImage } from '../../demo/containers/image.ts';
import { frrRecipe, keepalivedRecipe } from '../../demo/containers/recipes.ts';
import type { TestReport } from '../../lab/checks/report/test-report.ts';
import type { StepReport } from '../../lab/checks/run/step-report.ts';
import { testLab } from '../../lab/checks/test-lab.ts';
import { filesOf } from '../../lab/file/lab-files.ts';
import { loadLab } from '../../lab/file/load-lab.ts';
import { DockerEngine, noEngine } from '../support/docker-engine.ts';
import { patientFidelity } from '../support/patient-fidelity.ts';
import { assertSameVerdict, skipTwice } from '../support/same-verdict.ts';
import { withServer } from '../support/with-server.ts';

const labs = resolve(import.meta.dirname, '../../labs');
const recipes = [await frrRecipe(), keepalivedRecipe()];

async function buildImages(): Promise<string[] | string> {
  const missing = await noEngine(['tcpdump', 'tcpdump']);
  if (missing !== undefined) return missing;
  try {
    const archives: string[] = [];
    for (const recipe of recipes) archives.push(await ensureImage(recipe));
    return archives;
  } catch (error) {
    return `an image cannot be made: ${(error as Error).message}`;
  }
}

const archives = await buildImages();
const skip = typeof archives === 'string' ? archives : undefined;
const engine = skip === undefined ? await DockerEngine.start() : undefined;
after(() => engine?.stop());
const { server } = await withServer({ config: { Docker: { socket_path: engine?.socket ?? '/nowhere/docker.sock' } } });
const client = new ServerClient({ url: server.url });

interface Mistake {
  /** Makes it, and waits until it acts. */
  readonly make: readonly object[];
  /** Name of the check that finds it. */
  readonly check: string;
  readonly problem: RegExp;
  readonly undo?: readonly object[];
}
interface LabTree {
  checks: { name?: string }[];
}

/** Runs the lab as it is, and then each mistake with its check. */
async function runWith(file: string, mistakes: readonly Mistake[]): Promise<void> {
  const tree = parse(await readFile(join(labs, file), 'utf8'), { merge: true }) as LabTree;
  const steps = mistakes.flatMap(({ make, check, undo = [] }, index) => {
    const found = tree.checks.find(({ name }) => name === check);
    assert.ok(found, check);
    const { eventually: _patience, ...once } = found as { eventually?: string };
    return [...make, { ...once, name: `mistake ${index}` }, ...undo];
  });
  const text = stringify({ ...tree, checks: [...tree.checks, ...steps] });
  const lab = await loadLab({ text, file, files: filesOf({}), vars: {} });
  const report = await testLab(
    checkApi(client),
    { ...lab, test: { ...lab.test, fidelity: patientFidelity } },
    { seed: 7, base: labs, signal: AbortSignal.timeout(500_000), cleanup: client },
  );
  const unready = report.ready.filter(({ isReady }) => !isReady);
  assert.deepEqual([report.failure, unready], [undefined, []], 'the checks begin');
  const wrong = report.steps.filter(({ name, outcome }) => outcome !== 'passed' && !name.startsWith('mistake'));
  assert.deepEqual(wrong, [], JSON.stringify([report.ready, wrong]));
  assert.deepEqual(report.certificate?.reasons, []);
  for (const [index, { problem }] of mistakes.entries()) {
    const step = report.steps.find(({ name }) => name === `mistake ${index}`);
    assert.equal(step?.outcome, 'failed', JSON.stringify(step));
    assert.match(problemsOf(step), problem);
  }
}

async function runPlain(file: string): Promise<TestReport> {
  return runText(await readFile(join(labs, file), 'utf8'));
}

async function runText(text: string): Promise<TestReport> {
  const lab = await loadLab({ text, file: 'lab.yaml', files: filesOf({}), vars: {} });
  return testLab(
    checkApi(client),
    { ...lab, test: { ...lab.test, fidelity: patientFidelity } },
    { seed: 7, base: labs, signal: AbortSignal.timeout(500_000), cleanup: client },
  );
}

const problemsOf = (step: StepReport) => step.problems.join('; ');
const patiently = { eventually: '120s' };

describe('labs of routers', { skip, concurrency: true, timeout: 600_000 }, async () => {
  for (const [index, recipe] of recipes.entries()) {
    if (engine) await loadImage(engine.socket, recipe, archives[index] ?? '');
  }

  for (const file of ['ospf-failover.yaml', 'bgp-filters.yaml', 'vrrp-split-brain.yaml']) {
    test(`${file}: the same seed gives the same verdict`, { skip: skipTwice }, async () => {
      assertSameVerdict(await runPlain(file), await runPlain(file));
    });
  }

  test('the lab of docs/lab-file.md with three routers and a check passes as it stands there', async () => {
    const page = await readFile(join(labs, '../docs/lab-file.md'), 'utf8');
    const text = /^```yaml\n(name: triangle\n.*?)^```$/ms.exec(page)?.[1];
    assert.ok(text);
    const report = await runText(text);
    assert.equal(report.verdict, 'passed', JSON.stringify([report.ready, report.steps, report.certificate?.reasons]));
  });

  test('OSPF failover, with a wrong cost, too much loss, and a missing neighbour', async () => {
    const cost = (value: string) => ({ node: 'R1', config: `interface eth1\n${value}` });
    const direct = ['R1:eth1', 'R3:eth0'];
    await runWith('ospf-failover.yaml', [
      {
        make: [cost('ip ospf cost 500'), { node: 'R1', route: '10.3.0.0/24', expect: { via: ['10.0.12.2'] }, ...patiently }],
        check: 'the direct link is the way',
        problem: /the next hops are 10\.0\.12\.2, expected 10\.0\.13\.3/,
        undo: [cost('no ip ospf cost'), { node: 'R1', route: '10.3.0.0/24', expect: { via: ['10.0.13.3'] }, ...patiently }],
      },
      {
        make: [{ impair: { link: direct, filters: { packet_loss: '60%' } } }],
        check: 'traffic crosses the ring without loss',
        problem: /loss is [\d.]+%, expected 0%/,
        undo: [{ impair: { link: direct, filters: {} } }],
      },
      {
        make: [
          { node: 'R3', config: 'interface eth0\nip ospf passive' },
          { node: 'R1', neighbour: { address: '10.0.13.3', protocol: 'ospf' }, expect: { present: false }, ...patiently },
        ],
        check: 'R1 and R3 are neighbours',
        problem: /10\.0\.13\.3 is not a neighbour/,
      },
    ]);
  });

  test('BGP with filters, with a leak and a missing neighbour', async () => {
    await runWith('bgp-filters.yaml', [
      {
        make: [
          { node: 'CUSTOMER', config: 'ip prefix-list PUBLIC seq 20 permit 10.66.0.0/16' },
          { node: 'PROVIDER', route: '10.66.0.0/16', ...patiently },
        ],
        check: 'the internal prefix does not leak to the provider',
        problem: /there is a route to 10\.66\.0\.0\/16: .*via 198\.51\.100\.1/,
      },
      {
        make: [
          { node: 'PROVIDER', config: 'router bgp 65002\nno neighbor 198.51.100.1' },
          { node: 'OTHER', route: '192.0.2.0/24', expect: { present: false }, ...patiently },
        ],
        check: 'the provider has the session with the customer',
        problem: /198\.51\.100\.1 is not a neighbour/,
      },
      { make: [], check: 'the other network learns the public prefix', problem: /there is no route to 192\.0\.2\.0\/24/ },
    ]);
  });

  test('VRRP split brain, with a lossy link and two virtual routers', async () => {
    const trunk = ['SW1', 'SW2'];
    const isMaster = { node: 'GW1', run: 'ip addr show eth0', expect: { text: '10.0.0.254' }, ...patiently };
    const isBackup = { node: 'GW1', run: 'ip addr show eth0', expect: { not_text: '10.0.0.254' }, ...patiently };
    const file = '/etc/keepalived/keepalived.conf';
    const edit = `sed -i 's/_id 51/_id 52/' ${file} && kill -HUP $(pidof keepalived | tr ' ' '\\n' | sort -n | head -n 1)`;
    await runWith('vrrp-split-brain.yaml', [
      {
        make: [{ impair: { link: trunk, filters: { packet_loss: '100%' } } }, isMaster],
        check: 'exactly one master announces itself',
        problem: /senders is 2, expected 1/,
        undo: [{ impair: { link: trunk, filters: {} } }, isBackup],
      },
      {
        make: [{ node: 'GW1', run: edit }, isMaster],
        check: 'exactly one master announces itself',
        problem: /senders is 2, expected 1/,
      },
    ]);
  });
});
