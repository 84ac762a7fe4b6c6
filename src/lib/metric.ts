/** A figure for monitoring systems, in their terms (Prometheus' data model), however they are served. */
export interface Metric {
  /** In base units: seconds, bytes. */
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly values: readonly MetricValue[];
}

export interface MetricValue {
  readonly labels?: Readonly<Record<string, string | number>>;
  readonly value: number;
  /** Of one of a histogram's parts; default the metric's. */
  readonly metricName?: string;
}

/** Gathers figures when they are asked for. */
export type CollectMetrics = () => Promise<Metric[]>;

export function gauge(name: string, help: string, values: readonly MetricValue[]): Metric {
  return { name, help, type: 'gauge', values };
}

export function counter(name: string, help: string, values: readonly MetricValue[]): Metric {
  return { name, help, type: 'counter', values };
}
