/** Measures namespaces and bridges of the kernel in place of PCs and switches in the fabric, by ip(8) and by Mininet. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { forEachBounded } from '../../src/lib/bounded.ts';
import { addressOf, neighbourOf, pcsOfGroup, pingsAtOnce } from './lab.ts';

const run = promisify(execFile);

type BaselineRow = [what: string, seconds: number];

/** Python of Debian, whose package mininet it has. */
const python = '/usr/bin/python3';
const mininetFile = '/usr/lib/python3/dist-packages/mininet/net.py';
const mininetLimitMs = 1_800_000;

/** Empty where root, ip(8) or ping(8) is missing; without Mininet where Debian's packages mininet and bridge-utils are. */
export async function measureBaselines(groups: number): Promise<BaselineRow[]> {
  if (process.getuid?.() !== 0 || !(await isThere('/usr/bin/ping', '/bin/ping'))) return [];
  const rows = await measureNamespaces(groups);
  return (await isThere(mininetFile)) ? [...rows, ...(await measureMininet(groups))] : rows;
}

/** Mininet's hosts and Linux bridges, joined and addressed in the same way. */
async function measureMininet(groups: number): Promise<BaselineRow[]> {
  const words = [path.join(import.meta.dirname, 'mininet_lab.py'), String(groups), String(pcsOfGroup)];
  const { stdout } = await run(python, words, { timeout: mininetLimitMs });
  const { made, started, pinged, lost } = JSON.parse(stdout) as Record<string, number>;
  const what = `baseline: ${groups * pcsOfGroup} hosts and ${groups} bridges of Mininet`;
  return [
    [`${what}: made, s`, made ?? Number.NaN],
    [`${what}: started, s`, started ?? Number.NaN],
    [`${what}: pinged, of which ${lost} were lost, s`, pinged ?? Number.NaN],
  ];
}

/** Measures as many namespaces, veth pairs and bridges by ip(8), and as many pings by ping(8). */
async function measureNamespaces(groups: number): Promise<BaselineRow[]> {
  const mark = `pb${randomBytes(2).toString('hex')}`;
  const indexes = Array.from({ length: groups * pcsOfGroup }, (_, index) => index);
  const all = indexes.map((index) => `${mark}${index}`);
  const bridges = Array.from({ length: groups }, (_, group) => `${mark}b${group}`);
  const began = performance.now();
  try {
    await ip([
      ...all.map((name) => `netns add ${name}`),
      ...bridges.flatMap((name) => [`link add ${name} type bridge`, `link set ${name} up`]),
      ...indexes.flatMap((index) => [
        `link add ${mark}v${index} type veth peer name eth0 netns ${mark}${index}`,
        `link set ${mark}v${index} master ${bridges[Math.floor(index / pcsOfGroup)]} up`,
      ]),
    ]);
    await eachNamespace(indexes, async (index) => {
      await ip([`addr add ${addressOf(index)}/8 dev eth0`, 'link set eth0 up'], ['-n', `${mark}${index}`]);
    });
    await eachNamespace(indexes, async (index) => {
      await run('ip', ['netns', 'exec', `${mark}${index}`, 'ping', '-c', '1', '-W', '5', addressOf(neighbourOf(index))]);
    });
    const what = `baseline: ${all.length} namespaces and ${groups} bridges by ip(8), made and pinged, s`;
    return [[what, (performance.now() - began) / 1000]];
  } finally {
    await ip([...all.map((name) => `netns del ${name}`), ...bridges.map((name) => `link del ${name}`)]).catch((error: Error) =>
      console.error(error.message),
    );
  }
}

async function eachNamespace(indexes: readonly number[], fn: (index: number) => Promise<void>): Promise<void> {
  const [error] = await forEachBounded(indexes, pingsAtOnce, fn);
  if (error !== undefined) throw error;
}

function ip(lines: readonly string[], place: readonly string[] = []) {
  const child = run('ip', [...place, '-batch', '-'], { maxBuffer: 1 << 26 });
  child.child.stdin?.end(`${lines.join('\n')}\n`);
  return child;
}

async function isThere(...paths: string[]): Promise<boolean> {
  const found = await Promise.allSettled(paths.map((path) => access(path)));
  return found.some(({ status }) => status === 'fulfilled');
}
