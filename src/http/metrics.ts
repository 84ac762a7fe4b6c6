/**
 * `GET /metrics`: for monitoring systems, in Prometheus' text format. The library is loaded, and the event loop watched,
 * with the first request: a server without monitoring pays nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { Metric as LibraryMetric, Registry } from 'prom-client';
import { type Route, route, Stream } from '../api/route.ts';
import type { CollectMetrics, Metric } from '../lib/metric.ts';

/** Who scrapes waits ten seconds; a part that has not answered by then is left out, so that the others arrive. */
const collectLimitMs = 5000;

export function metricsRoute(collectors: readonly CollectMetrics[], log: FastifyBaseLogger): Route {
  const page = new MetricsPage(collectors, log);
  return route(
    'GET /metrics',
    { summary: "Figures for monitoring, in Prometheus' text format", replyType: 'text/plain', own: true },
    () => page.read(),
  );
}

class MetricsPage {
  readonly #collectors: readonly CollectMetrics[];
  readonly #log: FastifyBaseLogger;
  /** What the library itself knows of this process. */
  #process: Promise<Registry> | undefined;

  constructor(collectors: readonly CollectMetrics[], log: FastifyBaseLogger) {
    this.#collectors = collectors;
    this.#log = log;
  }

  async read(): Promise<Stream> {
    const { Registry } = await import('prom-client');
    this.#process ??= watchProcess();
    const ofProcess = await this.#process;
    const registry = new Registry();
    for (const metrics of await Promise.all(this.#collectors.map((collect) => this.#collected(collect)))) {
      for (const metric of metrics) registry.registerMetric(served(metric));
    }
    const texts = await Promise.all([registry.metrics(), ofProcess.metrics()]);
    return new Stream(registry.contentType, Buffer.from(texts.join('\n')));
  }

  async #collected(collect: CollectMetrics): Promise<Metric[]> {
    const limit = new AbortController();
    const late = sleep(collectLimitMs, undefined, { signal: limit.signal }).then(
      () => Promise.reject(new Error(`no figures within ${collectLimitMs} ms`)),
      () => [],
    );
    try {
      return await Promise.race([collect(), late]);
    } catch (error) {
      this.#log.warn({ err: error }, 'some figures were left out');
      return [];
    } finally {
      limit.abort();
    }
  }
}

async function watchProcess(): Promise<Registry> {
  const { collectDefaultMetrics, Registry } = await import('prom-client');
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** All that the registry asks of a metric is `name` and `get`; the library's own classes count, ours are counted by their owners. */
function served(metric: Metric): LibraryMetric {
  return { name: metric.name, get: () => Promise.resolve(metric) } as unknown as LibraryMetric;
}
