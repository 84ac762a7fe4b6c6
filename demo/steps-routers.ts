/** The second act: labs out of files, with checks and verdicts. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { ServerClient } from '../cli/server-client.ts';
import { checkApi } from '../cli/test/check-api.ts';
import { stepLine, summaryText } from '../lab/checks/report/summary.ts';
import type { TestReport } from '../lab/checks/report/test-report.ts';
import { testLab } from '../lab/checks/test-lab.ts';
import type { Lab } from '../lab/file/lab.ts';
import { filesBelow } from '../lab/file/lab-files.ts';
import { loadLab } from '../lab/file/load-lab.ts';
import { DemoEngine } from './containers/engine.ts';
import { ensureImage, loadImage } from './containers/image.ts';
import { frrRecipe } from './containers/recipes.ts';
import { type Outcome, seconds } from './outcome.ts';
import { withMachines } from './router-lab.ts';
import type { Session } from './session.ts';

const labs = path.join(import.meta.dirname, '../labs');
const limitMs = 180_000;
const say = (line: string) => process.stdout.write(`  ${line}\n`);

/** Three routers in virtual machines: OSPF comes up, a link fails, and traffic is measured until they have converged. */
export async function routers(session: Session): Promise<Outcome> {
  const vars = { traffic_for: '4s', lost: '0.2%..95%', gap: '40ms..12s' };
  const lab = withMachines(await readLab('ospf-failover.yaml', vars), session.router);
  const booted = session.routersBooted.resolve;
  const report = await runLab(session, lab, booted).finally(booted);
  const failover = report.steps.flatMap(({ steps }) => steps).find(({ verb }) => verb === 'traffic');
  const [, arrived, sent, gap] = /^(\d+) of (\d+) .*longest gap (.+)$/.exec(failover?.evidence ?? '') ?? [];
  return outcomeOf(
    report,
    gap === undefined ? 'nothing measured' : `${Number(sent) - Number(arrived)} of ${sent} lost, gap ${gap}`,
  );
}

/** Three networks with BGP between containers: what is announced, and what a filter keeps back. */
export async function containers(session: Session): Promise<Outcome> {
  const plan = session.enginePlan;
  if ('reason' in plan) throw new Error(plan.reason);
  const engine = await DemoEngine.start(plan);
  await session.onStop(() => engine.stop());
  const recipe = await frrRecipe();
  await loadImage(plan.socket, recipe, await ensureImage(recipe, say));
  const report = await runLab(session, await readLab('bgp-filters.yaml'));
  return outcomeOf(report, `${report.steps.length} checks of BGP between containers`);
}

async function readLab(file: string, vars: Record<string, string> = {}): Promise<Lab> {
  const text = await readFile(path.join(labs, file), 'utf8');
  return loadLab({ text, file, files: filesBelow(labs), vars });
}

/** `onStep` is called after each check. */
async function runLab({ server }: Session, lab: Lab, onStep = () => {}): Promise<TestReport> {
  const client = new ServerClient({ url: server.url });
  // Other steps may print meanwhile.
  const tell = (line: string) => say(`${lab.name}: ${line}`);
  const report = await testLab(checkApi(client), lab, {
    base: labs,
    signal: AbortSignal.timeout(limitMs),
    cleanup: client,
    onNote: tell,
    onStep: (step) => {
      tell(stepLine(step));
      onStep();
    },
  });
  for (const line of summaryText(report).trimEnd().split('\n')) tell(line);
  return report;
}

function outcomeOf(report: TestReport, measured: string): Outcome {
  return {
    expected: 'verdict: passed',
    measured: `${report.verdict} after ${seconds(report.durationMs)}: ${measured}`,
    good: report.verdict === 'passed',
    figures: { verdict: report.verdict, seed: report.seed, checks: report.steps.length, ms: report.durationMs },
  };
}
