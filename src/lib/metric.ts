/** A metric for monitoring systems in Prometheus' data model, independent of how it is served. */
export interface Metric {
  /** Name with its base unit: seconds, bytes. */
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly values: readonly MetricValue[];
}

export interface MetricValue {
  readonly labels?: Readonly<Record<string, string | number>>;
  readonly value: number;
  /** Name of a histogram's part; default: the metric's name. */
  readonly metricName?: string;
}

/** Collects metrics on request. */
export type CollectMetrics = () => Promise<Metric[]>;

export function gauge(name: string, help: string, values: readonly MetricValue[]): Metric {
  return { name, help, type: 'gauge', values };
}

export function counter(name: string, help: string, values: readonly MetricValue[]): Metric {
  return { name, help, type: 'counter', values };
}
