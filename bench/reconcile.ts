/**
 * A look at all nodes of a large project: `node bench/reconcile.ts [--nodes 5000] [--unsettled 200]`. The controller is the real one, over a
 * compute that only remembers. Nodes that are not settled are wanted, and their compute refuses to start them.
 */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { Reconciler } from '../src/controller/reconcile/reconciler.ts';
import { waitFor } from '../test/support/wait-for.ts';
import { ControllerBench } from '../test/support/with-controller.ts';
import { quantile } from './measure.ts';

const looks = 50;
const { values } = parseArgs({
  options: { nodes: { type: 'string', default: '5000' }, unsettled: { type: 'string', default: '200' } },
});
const unsettled = Number(values.unsettled);
const bench = new ControllerBench();
await bench.setUp();
try {
  const nodes = Array.from({ length: Number(values.nodes) }, (_, index) => ({
    ref: `n${index}`,
    name: `N${index}`,
    node_type: 'vpcs',
    compute_id: 'local',
  }));
  await bench.inProject('POST /bulk', { nodes });
  const project = bench.controller.projects.get(bench.project.project_id);
  const { liveNow: live } = project;
  if (!live) throw new Error('the project is not open');
  bench.compute.refused.add('/start');
  await live.runs.want([...live.nodes.all()].slice(0, unsettled), 'running', 'client');
  // Looks at the nodes alone, beside the controller's own.
  const reconciler = new Reconciler(pino({ level: 'silent' }), '/nonexistent', new Map());
  const waiting = () => [...live.nodes.all()].filter(({ waitCause }) => waitCause !== undefined).length;
  await reconciler.lookAtAll(project, live);
  await waitFor(() => waiting() === unsettled, { what: `${unsettled} nodes that wait`, limitMs: 120_000 });
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const times: number[] = [];
  const turns: number[] = [];
  for (let look = 0; look < looks; look++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    delay.enable();
    delay.reset();
    const begun = performance.now();
    await reconciler.lookAtAll(project, live);
    times.push(performance.now() - begun);
    await new Promise((resolve) => setTimeout(resolve, 5));
    delay.disable();
    turns.push(delay.max / 1e6);
  }
  await reconciler.close();
  console.log('| measured | median | 99th percentile |\n|---|---:|---:|');
  const row = (what: string, all: readonly number[]) =>
    `| ${what} | ${quantile(all, 0.5).toFixed(1)} | ${quantile(all, 0.99).toFixed(1)} |`;
  console.log(row(`a look at ${values.nodes} nodes, ${unsettled} of which wait, ms`, times));
  console.log(row('longest hold of the event loop meanwhile, with a timer of 1 ms, ms', turns));
} finally {
  await bench.tearDown();
}
