/**
 * The controller as it is served, on real files, over a compute in memory: its nodes only have a status. Argument: its data folder. A
 * message of the parent process is answered by the figures since the message before.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { pino } from 'pino';
import { type RouteKey, route } from '../../src/api/route.ts';
import { Controller } from '../../src/controller/controller.ts';
import { controllerRoutes } from '../../src/controller/routes/v2/routes.ts';
import { createHttpServer } from '../../src/http/server.ts';
import { readSettings } from '../../src/settings.ts';
import { InMemoryCompute } from '../../test/support/in-memory-compute.ts';

export interface Figures {
  /** Longest delay of a timer since the last message, by the clock: what else uses the processor counts as well. */
  readonly holdMs: number;
  /** Longest time of processor that passed between two looks, at least 2 ms apart. */
  readonly holdCpuMs: number;
  readonly heapBytes: number;
  readonly residentBytes: number;
  /** Processor time of the main thread, since the last message. */
  readonly cpuMs: number;
}

// The process ends with its parent also while it starts.
process.on('disconnect', () => process.exit());

const lookMs = 2;
const [folder = ''] = process.argv.slice(2);
const cpuMs = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};
const settings = await readSettings({ port: 0, dataDirectory: folder });
const log = pino({ level: 'error' }, pino.destination(2));
const memory = new InMemoryCompute();
const project = '/v2/compute/projects/{project_id}';
/** Routes whose work is not simulated. */
const idle = (key: RouteKey, reply: unknown = undefined) => route(key, { right: 'open', summary: key }, () => reply);
const more = [
  idle(`DELETE ${project}`),
  idle(`GET ${project}/files`, []),
  idle(`GET ${project}/captures`, []),
  idle(`GET ${project}/link_stats`, []),
  idle(`POST ${project}/copy`),
  idle('GET /v2/compute/projects', []),
];
const compute = { events: memory.events, routes: () => [...memory.routes(), ...more] };
const before = cpuMs();
const controller = await Controller.open({ settings, log, version: '2.2.60', compute, end: () => process.exit() });
const openedMs = cpuMs() - before;
const app = await createHttpServer({
  routes: [...controllerRoutes(controller), ...compute.routes()],
  log,
  serverHeader: 'simulation',
  allowedOrigins: [],
});
const url = await app.listen({ host: '127.0.0.1', port: 0 });
await controller.listening(url);

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
let [looked, since, holdCpuMs] = [cpuMs(), cpuMs(), 0];
setInterval(() => {
  const now = cpuMs();
  holdCpuMs = Math.max(holdCpuMs, now - looked);
  looked = now;
}, lookMs);

process.on('message', (wish) => {
  if (wish === 'end') {
    void controller.close().then(() => process.exit(0));
    return;
  }
  if (wish === 'collect') globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  const now = cpuMs();
  const figures: Figures = {
    holdMs: delay.max / 1e6,
    holdCpuMs,
    heapBytes: heapUsed,
    residentBytes: rss,
    cpuMs: now - since,
  };
  process.send?.(figures);
  delay.reset();
  [looked, since, holdCpuMs] = [cpuMs(), cpuMs(), 0];
});
process.send?.({ url, openedMs });
