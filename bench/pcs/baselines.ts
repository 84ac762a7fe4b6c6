/** Measures namespaces and bridges of the kernel in place of PCs and switches in the fabric. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { access } from 'node:fs/promises';
import { promisify } from 'node:util';
import { forEachBounded } from '../../src/lib/bounded.ts';
import { addressOf, neighbourOf, pcsOfGroup, pingsAtOnce } from './lab.ts';

const run = promisify(execFile);

type BaselineRow = [what: string, seconds: number];

/** Empty where root, ip(8) or ping(8) is missing. */
export async function measureBaselines(groups: number): Promise<BaselineRow[]> {
  if (process.getuid?.() !== 0 || !(await isThere('/usr/bin/ping', '/bin/ping'))) return [];
  return measureNamespaces(groups);
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
