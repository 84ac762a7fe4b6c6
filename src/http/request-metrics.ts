/** Counts requests and measures their durations, by route and status. A request costs one look-up in a map. */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Metric, MetricValue } from '../lib/metric.ts';
import { declaredRoute } from './declared-routes.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The request is counted already: the answer is a stream, which may never end, so it is counted when it begins. */
    isCounted?: boolean;
    /** Counts a request that is upgraded to a WebSocket, for which the framework emits no answer. */
    noteUpgrade(reply: FastifyReply): void;
  }
}

/** Upper bounds of the histogram's buckets, seconds. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Label of all paths without a route: clients choose them, so the paths themselves must not become labels. */
const unknownRoute = 'unknown';

interface Series {
  readonly route: string;
  readonly status: number;
  /** Count per bucket, not cumulative; the last one is for durations above all bounds. */
  readonly counts: number[];
  seconds: number;
}

export class RequestMetrics {
  readonly #series = new Map<string, Series>();

  watch(app: FastifyInstance): void {
    app.addHook('onSend', (request, reply, payload, done) => {
      if (payload instanceof Readable) {
        request.isCounted = true;
        this.#answered(request, reply);
      }
      done();
    });
    const note = (request: FastifyRequest, reply: FastifyReply) => this.#answered(request, reply, 101);
    app.decorateRequest('noteUpgrade', function (this: FastifyRequest, reply: FastifyReply) {
      note(this, reply);
    });
    app.addHook('onResponse', (request, reply, done) => {
      if (!request.isCounted) this.#answered(request, reply);
      done();
    });
  }

  read(): Metric[] {
    const all = [...this.#series.values()];
    return [
      {
        name: 'patchbay_http_requests_total',
        help: 'Requests that were answered',
        type: 'counter',
        values: all.map(({ route, status, counts }) => ({ labels: { route, status }, value: sum(counts) })),
      },
      {
        name: 'patchbay_http_request_duration_seconds',
        help: 'From the request to the end of its answer, or to the beginning of a streamed one',
        type: 'histogram',
        values: all.flatMap(histogramOf),
      },
    ];
  }

  #answered(request: FastifyRequest, reply: FastifyReply, status = reply.statusCode): void {
    const declared = declaredRoute(request);
    const route = declared ? `${request.method} ${declared.template}` : unknownRoute;
    this.#note(route, status, reply.elapsedTime / 1000);
  }

  #note(route: string, status: number, seconds: number): void {
    const key = `${status} ${route}`;
    let series = this.#series.get(key);
    if (!series) {
      series = { route, status, counts: Array.from({ length: bounds.length + 1 }, () => 0), seconds: 0 };
      this.#series.set(key, series);
    }
    const found = bounds.findIndex((bound) => seconds <= bound);
    const index = found === -1 ? bounds.length : found;
    series.counts[index] = (series.counts[index] ?? 0) + 1;
    series.seconds += seconds;
  }
}

function histogramOf({ route, status, counts, seconds }: Series): MetricValue[] {
  const name = 'patchbay_http_request_duration_seconds';
  let upTo = 0;
  const classes = counts.map((count, index) => {
    upTo += count;
    return { metricName: `${name}_bucket`, labels: { le: bounds[index] ?? '+Inf', route, status }, value: upTo };
  });
  const labels = { route, status };
  return [...classes, { metricName: `${name}_sum`, labels, value: seconds }, { metricName: `${name}_count`, labels, value: upTo }];
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
