/** Processor time of a fabric while it has the links of twenty pairs of machines that send nothing, and without them. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { guestRamMiB } from '../../demo/guest/guest.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import type { ProjectHandle } from '../../test/support/with-server.ts';
import { median } from './figures.ts';
import { bootMs, far, MachineSite, near } from './machine-site.ts';

const pairs = 20;
const seconds = 20;

export async function measureIdle({ isUser, rounds }: { readonly isUser: boolean; readonly rounds: number }): Promise<void> {
  await using site = await MachineSite.open({ isUser });
  const { project, links } = await startPairs(site);
  const pid = await fabricPid(site);
  const shares = async (count: number) => {
    const found: number[] = [];
    for (let round = 0; round < count; round += 1) {
      const before = await processorNanos(pid);
      await sleep(seconds * 1000);
      found.push(((await processorNanos(pid)) - before) / (seconds * 1e7));
    }
    return found;
  };
  await waitFor(async () => (await Promise.all(links.map((link) => site.carrier(link)))).every((carrier) => carrier === 'kernel'), {
    ...{ what: 'the kernel path of all links', limitMs: bootMs },
  });
  const rows = [{ what: `${pairs} pairs, their first ${seconds} s`, found: await shares(1) }];
  rows.push({ what: `${pairs} pairs, after that`, found: await shares(rounds) });
  await site.client.delete(project.path);
  rows.push({ what: 'no machines', found: await shares(rounds) });
  console.log(`| processor time of the fabric, % of a processor, ${seconds} s each | median | highest |\n|---|---:|---:|`);
  for (const { what, found } of rows) console.log(`| ${what} | ${median(found).toFixed(3)} | ${Math.max(...found).toFixed(3)} |`);
}

/** @returns paths of the links, once all guests are ready */
async function startPairs(site: MachineSite): Promise<{ project: ProjectHandle; links: string[] }> {
  const project = await site.project();
  const links: string[] = [];
  const nodes = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    const one = await site.machine(project, `a${pair}`, near, { ram: guestRamMiB + 32 });
    const other = await site.machine(project, `b${pair}`, far, { ram: guestRamMiB + 32 });
    links.push(await site.link(project, one, other));
    nodes.push(one, other);
  }
  await site.start(project);
  for (const node of nodes) await site.speaker(node);
  return { project, links };
}

async function fabricPid({ server }: MachineSite): Promise<number> {
  const log = await readFile(join(server.dataDir, 'state/fabric.log'), 'utf8');
  return Number([...log.matchAll(/fabric (\d+) listens/g)].at(-1)?.[1]);
}

/** Sums the processor time of all threads. @see sched-stats.rst of the kernel: the first figure of a task is its time on a processor */
async function processorNanos(pid: number): Promise<number> {
  const tasks = await readdir(`/proc/${pid}/task`);
  const texts = await Promise.all(tasks.map((task) => readFile(`/proc/${pid}/task/${task}/schedstat`, 'latin1')));
  return texts.reduce((sum, text) => sum + Number(text.split(' ')[0]), 0);
}
