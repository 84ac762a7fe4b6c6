/**
 * Serves `GET /metrics` in Prometheus' text format. The first request loads the library and starts to watch the event loop: a
 * server without monitoring pays nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { Metric as LibraryMetric, Registry } from 'prom-client';
import { type Route, route, Stream } from '../api/route.ts';
import type { CollectMetrics, Metric } from '../lib/metric.ts';

/** Prometheus waits ten seconds; a collector without an answer by then is left out, so that the others arrive. Ms. */
const collectLimitMs = 5000;

export function metricsRoute(collectors: readonly CollectMetrics[], log: FastifyBaseLogger): Route {
  const page = new MetricsPage(collectors, log);
  return route(
    'GET /metrics',
    { right: 'administrator', summary: "Figures for monitoring, in Prometheus' text format", replyType: 'text/plain', own: true },
    () => page.read(),
  );
}

class MetricsPage {
  readonly #collectors: readonly CollectMetrics[];
  readonly #log: FastifyBaseLogger;
  /** The library's default metrics of this process. */
  #process: Promise<Registry> | undefined;

  constructor(collectors: readonly CollectMetrics[], log: FastifyBaseLogger) {
    this.#collectors = collectors;
    this.#log = log;
  }

  async read(): Promise<Stream> {
    this.#process ??= watchProcess();
    const ofProcess = await this.#process;
    const collected = await Promise.all(this.#collectors.map((collect) => this.#collected(collect)));
    const texts = [];
    for (const metric of collected.flat()) texts.push(...(await textsOf(metric)), Buffer.from('\n'));
    return new Stream(ofProcess.contentType, Buffer.concat([...texts, Buffer.from(await ofProcess.metrics())]));
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

/** Most values that become text in one turn of the event loop. */
const valuesAtOnce = 1000;
const head = /^(?:#.*\n)+/;

/** Formats a metric, in pieces. */
async function textsOf(metric: Metric): Promise<Buffer[]> {
  const { Registry } = await import('prom-client');
  const texts = [];
  for (let at = 0; at === 0 || at < metric.values.length; at += valuesAtOnce) {
    const registry = new Registry();
    registry.registerMetric(served({ ...metric, values: metric.values.slice(at, at + valuesAtOnce) }));
    const text = await registry.metrics();
    texts.push(Buffer.from(at === 0 ? text : text.replace(head, '')));
    if (at > 0) await new Promise(setImmediate);
  }
  return texts;
}

/**
 * Presents our metric as one of the library's: its registry uses only `name` and `get`. Our metrics are counted by their owners.
 */
function served(metric: Metric): LibraryMetric {
  return { name: metric.name, get: () => Promise.resolve(metric) } as unknown as LibraryMetric;
}
