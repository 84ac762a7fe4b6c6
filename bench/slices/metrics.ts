/** Figures of servers from their `/metrics`. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The controller's own; each reading begins a new measurement of the event loop. */
export interface ControllerFigures {
  readonly cpuSeconds: number;
  /** The longest time that the event loop was late since the last reading, ms. */
  readonly holdMs: number;
}

export async function controllerFigures(url: string): Promise<ControllerFigures> {
  const text = await metricsOf(url);
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  return { cpuSeconds: value('process_cpu_seconds_total'), holdMs: value('nodejs_eventloop_lag_max_seconds') * 1000 };
}

/** Requests that slices of the engine `process` have answered to their controller. `dataFolder`: the controller's. */
export async function requestsAt(dataFolder: string, slices: readonly { compute_id: string; url: string }[]): Promise<number> {
  const counts = slices.map(async ({ compute_id, url }) => {
    const file = join(dataFolder, 'slices', compute_id, 'data/state/slice.json');
    const { secret } = JSON.parse(await readFile(file, 'utf8')) as { secret: string };
    const text = await metricsOf(url, { authorization: `Basic ${Buffer.from(`patchbay:${secret}`).toString('base64')}` });
    const values = text.matchAll(/^patchbay_http_requests_total\{.*route="\S+ \/v2\/compute.*\} (\d+)$/gm);
    return Array.from(values, ([, value]) => Number(value)).reduce((total, value) => total + value, 0);
  });
  return (await Promise.all(counts)).reduce((total, count) => total + count, 0);
}

async function metricsOf(url: string, headers: Record<string, string> = {}): Promise<string> {
  const reply = await fetch(`${url}/metrics`, { headers });
  if (!reply.ok) throw new Error(`GET ${url}/metrics: ${reply.status}`);
  return reply.text();
}
