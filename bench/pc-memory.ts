/**
 * Memory of PCs in the fabric: `node bench/pc-memory.ts [--pcs 3000]`. The fabric runs in this process, without its control socket, and what
 * lives after a collection is counted: objects, buffers, and what the process has resident. Of four nodes three are PCs, and one is the
 * switch between them, as in `bench/pcs.ts`. Each step adds something to all of them, and the table says what it adds for each PC.
 */
import { tmpdir } from 'node:os';
import { setTimeout as pass } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { setFlagsFromString, writeHeapSnapshot } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Fabric } from '../src/fabric/control/fabric.ts';
import { loadNative } from '../src/fabric/ports/native.ts';
import { forEachBounded } from '../src/lib/bounded.ts';

const { values } = parseArgs({ options: { pcs: { type: 'string', default: '3000' }, snapshot: { type: 'string' } } });
const count = Number(values.pcs);
const groupSize = 3;
const idleMs = 10_000;
setFlagsFromString('--expose-gc');
// The flag with which the fabric's process runs.
setFlagsFromString('--semi-space-growth-factor=1');
const collect = runInNewContext('gc') as () => void;

interface Memory {
  readonly objects: number;
  readonly buffers: number;
  readonly resident: number;
}

const fabric = new Fabric(await loadNative(), tmpdir());
const indexes = Array.from({ length: count }, (_, index) => index);
const addressOf = (index: number) => `10.${Math.floor(index / 62_500)}.${Math.floor(index / 250) % 250}.${(index % 250) + 1}`;
const neighbourOf = (index: number) => index - (index % groupSize) + ((index + 1) % groupSize);
const hex = (index: number) => index.toString(16).padStart(4, '0');
const idOf = (index: number) => `00000000-0000-4000-8000-00000000${hex(index)}`;

const linkOf = (index: number) => {
  const name = `00000000-0000-4000-9000-00000000${hex(Math.floor(index / groupSize))}`;
  const settings = { medium: 'ethernet', mode: 'access', vlan: 1, tagType: 0x8100 } as const;
  return {
    id: `${idOf(index)}:0:0`,
    a: { type: 'pc', pc: idOf(index) },
    b: { type: 'switch', switch: name, port: index % groupSize, settings },
    filters: {},
    suspend: false,
  };
};

const rows: [step: string, memory: Memory][] = [];
let before = await read();
await step('a PC without a link, with an address by its script', async () => {
  const specs = indexes.map((index) => ({
    id: idOf(index),
    name: `PC${index + 1}`,
    mac: `00:50:79:67:${hex(index).slice(0, 2)}:${hex(index).slice(2)}`,
    directory: tmpdir(),
    script: `ip ${addressOf(index)}/8\n`,
  }));
  await fabric.pcs.apply(specs);
  // Scripts check their addresses, and routers are looked for.
  await pass(14_000);
});
await step('its link, and a third of a switch', async () => {
  const failures = await fabric.apply(indexes.map(linkOf));
  if (failures.length > 0) throw new Error(JSON.stringify(failures[0]));
  await pass(14_000);
});
await step('five answered pings of its neighbour', async () => {
  const [error] = await forEachBounded(indexes, 64, async (index) => {
    const to = addressOf(neighbourOf(index));
    const answer = await fabric.pcs.find(idOf(index))?.probe({ type: 'ping', to, count: 5, intervalMs: 1 });
    if (answer?.type !== 'ping' || answer.replies.some(({ ms }) => ms === undefined)) throw new Error(JSON.stringify(answer));
  });
  if (error !== undefined) throw error;
  await pass(3000);
});
await step('a minute later: meters of rates have nothing to count', () => pass(65_000));
const usage = process.cpuUsage();
await pass(idleMs);
const { user, system } = process.cpuUsage(usage);
if (values.snapshot) writeHeapSnapshot(values.snapshot);
const kib = (bytes: number) => (bytes / 1024 / count).toFixed(2);
console.log('| for each PC, KiB | objects | buffers | resident |\n|---|---:|---:|---:|');
const sum = (key: keyof Memory) => rows.reduce((total, [, memory]) => total + memory[key], 0);
rows.push(['**together**', { objects: sum('objects'), buffers: sum('buffers'), resident: sum('resident') }]);
for (const [name, { objects, buffers, resident }] of rows)
  console.log(`| ${name} | ${kib(objects)} | ${kib(buffers)} | ${kib(resident)} |`);
console.log(`\nIdle afterwards: ${((100 * (user + system)) / 1000 / idleMs).toFixed(2)} % of a processor for ${count} PCs.`);
await fabric.close();
process.exit();

async function step(name: string, work: () => Promise<void>): Promise<void> {
  await work();
  const after = await read();
  rows.push([
    name,
    {
      objects: after.objects - before.objects,
      buffers: after.buffers - before.buffers,
      resident: after.resident - before.resident,
    },
  ]);
  before = after;
}

async function read(): Promise<Memory> {
  for (let turn = 0; turn < 4; turn++) {
    collect();
    await pass(50);
  }
  const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
  return { objects: heapUsed, buffers: arrayBuffers, resident: rss };
}
