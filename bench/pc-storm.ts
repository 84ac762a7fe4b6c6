/**
 * A storm of pings beside a delayed link: `node bench/pc-storm.ts [--pcs 40] [--rounds 3]`. The fabric runs in this process. Datagrams cross
 * a link with a delay, alone and while every PC pings its neighbour as fast as it is answered, in turn; the link's own figures are compared.
 */
import { tmpdir } from 'node:os';
import { setTimeout as pass } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { Fabric } from '../src/fabric/control/fabric.ts';
import { loadNative } from '../src/fabric/ports/native.ts';
import { quantile } from './measure.ts';

// The flag with which the fabric's process runs.
setFlagsFromString('--semi-space-growth-factor=1');
const { values } = parseArgs({ options: { pcs: { type: 'string', default: '40' }, rounds: { type: 'string', default: '3' } } });
const pcs = Array.from({ length: Number(values.pcs) }, (_, index) => index);
const delaysMs = [20, 5];
const seconds = 4;
const perSecond = 200;
const settings = { medium: 'ethernet', mode: 'access', vlan: 1, tagType: 0x8100 } as const;
const fabric = new Fabric(await loadNative(), tmpdir());
const addressOf = (index: number) => `10.0.${index >> 7}.${(index & 127) + 1}`;
const port = (name: string, number: number) => ({ type: 'switch', switch: name, port: number, settings });

await fabric.pcs.apply(
  pcs.map((index) => ({
    ...{ id: `pc${index}`, name: 'PC', mac: `00:50:79:66:70:${index.toString(16).padStart(2, '0')}`, directory: tmpdir() },
    settings: { name: 'PC', mtu: 1500, dns: [], ip4: { address: addressOf(index), prefix: 8 } },
  })),
);
const links = pcs.map((index) => ({
  ...{ id: `link${index}`, a: { type: 'pc', pc: `pc${index}` }, b: port(`pair${index >> 1}`, index & 1) },
  ...{ filters: {}, suspend: false },
}));
const measured = delaysMs.map((delay) => ({
  ...{ id: `delay${delay}`, a: port(`from${delay}`, 0), b: port(`to${delay}`, 0), filters: { delay: [delay] }, suspend: false },
}));
const failures = await fabric.apply([...links, ...measured]);
if (failures.length > 0) throw new Error(JSON.stringify(failures[0]));

const figures = new Map<string, number[]>();
for (let round = 0; round < Number(values.rounds); round++)
  for (const isStorm of [false, true]) {
    const storm = isStorm ? startStorm() : undefined;
    for (const delay of delaysMs) startTraffic(delay, round * 2 + Number(isStorm));
    await pass(seconds * 1000);
    const stats = await fabric.stats(delaysMs.map((delay) => `delay${delay}`));
    for (const [index, { ab }] of stats.entries())
      for (const key of ['median_ms', 'p99_ms'] as const)
        note(`${delaysMs[index]} ${key} ${isStorm}`, ab.delay?.[key] ?? Number.NaN);
    if (storm) note('pings', (await storm.end()) / seconds);
    await pass(2000);
  }
console.log('| delay of the link, ms | alone | in the storm | ratio |\n|---|---:|---:|---:|');
for (const delay of delaysMs)
  for (const key of ['median_ms', 'p99_ms']) {
    const [alone, beside] = [median(`${delay} ${key} false`), median(`${delay} ${key} true`)];
    const what = key === 'median_ms' ? 'median' : '99th percentile';
    console.log(`| ${delay}: ${what} | ${alone.toFixed(2)} | ${beside.toFixed(2)} | ${(beside / alone).toFixed(3)} |`);
  }
console.log(`\n${Math.round(median('pings'))} answered pings a second of ${pcs.length} PCs.`);
process.exit();

function note(key: string, value: number): void {
  figures.set(key, [...(figures.get(key) ?? []), value]);
}

function median(key: string): number {
  return quantile(figures.get(key) ?? [], 0.5);
}

/** Every PC pings its neighbour until `end`, which answers how many pings were answered. */
function startStorm(): { end(): Promise<number> } {
  let isOver = false;
  const counts = pcs.map(async (index) => {
    let answered = 0;
    while (!isOver) {
      const probe = { type: 'ping', to: addressOf(index ^ 1), count: 50, intervalMs: 1 } as const;
      const answer = await fabric.pcs.find(`pc${index}`)?.probe(probe);
      if (answer?.type === 'ping') answered += answer.replies.filter(({ ms }) => ms !== undefined).length;
    }
    return answered;
  });
  return {
    end: async () => {
      isOver = true;
      return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
    },
  };
}

function startTraffic(delay: number, run: number): void {
  const station = (name: string, address: string, nextHop: string) => ({ switch: `${name}${delay}`, vlan: 1, address, nextHop });
  const [one, two] = [`10.1.${run}.1`, `10.1.${run}.2`];
  const gapsUs = Array<number>(seconds * perSecond).fill(1e6 / perSecond);
  const flow = { id: `${delay} ${run}`, source: station('from', one, two), sink: station('to', two, one), gapsUs, sizes: [200] };
  if (!fabric.traffic.start(flow)) throw new Error('no traffic');
}
