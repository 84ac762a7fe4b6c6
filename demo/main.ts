/**
 * `npm run demo`: starts a server, connects two virtual machines and a VPCS by links, impairs a link through the HTTP API, and
 * shows with measured figures that the traffic changes accordingly.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { version } from '../src/version.ts';
import { planEngine } from './containers/engine.ts';
import { ensureImage } from './containers/image.ts';
import { frrRecipe } from './containers/recipes.ts';
import { ensureGuest, type Guest } from './guest/guest.ts';
import { ensureRouter } from './guest/router.ts';
import { runHostsDemo } from './hosts-demo.ts';
import type { Outcome } from './outcome.ts';
import { processesOf } from './server.ts';
import { Session } from './session.ts';
import { steps } from './steps.ts';
import { type Row, renderTable } from './table.ts';

const help = `Usage: npm run demo [-- options]

Starts a server on a free port with a data directory of its own, boots two virtual machines and a VPCS, and measures what
happens on the links between them. Then runs a lab file of three routers (FRRouting in virtual machines), with checks and a
verdict; where there is a container engine, another one in containers.

  --once        end after the table; exit code 0 only if every row is good
  --json FILE   write the figures to FILE
  --hosts N     another lab in place of this one: over N network namespaces (3 to 8), of which one is lost; needs root
  --keep        leave the data directory in place at the end
  --help        print this and end`;

/** Exit code after SIGINT, as shells report it. */
const interruptedCode = 130;

interface Options {
  once: boolean;
  keep: boolean;
  json: string | undefined;
  hosts: number | undefined;
}

async function main(options: Options): Promise<number> {
  const say = (line: string) => process.stdout.write(`${line}\n`);
  const interrupted = new Promise<'interrupted'>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve('interrupted'));
  });
  const guest = await ensureGuest(say);
  const router = await ensureRouter(guest, say);
  const began = performance.now();
  const folder = await mkdtemp(path.join(tmpdir(), 'patchbay-demo-'));
  const session = new Session(folder, { guest, router, enginePlan: await findEngine(folder, say) });
  const rows: Row[] = [];
  try {
    const running = runSteps(session, rows, say);
    if ((await Promise.race([running, interrupted])) === 'interrupted') {
      say('Interrupted: stopping the nodes and the server');
      await stopAll(session);
      await running;
      return interruptedCode;
    }
    const complete = rows.every(({ good }) => good);
    if (options.once) rows.push(await stopAll(session));
    const tookMs = performance.now() - began;
    say(`\n${renderTable(rows, { colour: process.stdout.isTTY === true && process.env.NO_COLOR === undefined })}`);
    say(
      `\n${rows.every(({ good }) => good) ? 'Every row is good' : 'Not every row is good'}, after ${(tookMs / 1000).toFixed(1)} s.`,
    );
    if (options.json !== undefined) await writeFile(options.json, figures(rows, tookMs, guest));
    if (!options.once && complete) {
      say(nextSteps(session));
      await interrupted;
      say('Stopping the nodes and the server');
    }
    return rows.every(({ good }) => good) ? 0 : 1;
  } finally {
    await stopAll(session);
    if (options.keep) say(`The data directory is ${session.dataDirectory}`);
    else await rm(session.dataDirectory, { recursive: true, force: true });
  }
}

/** The image of the routers is made here once, as the guest is: it is no part of what the demo measures. */
async function findEngine(folder: string, say: (line: string) => void): Promise<Session['enginePlan']> {
  const plan = await planEngine(folder);
  if ('reason' in plan) return plan;
  try {
    await ensureImage(await frrRecipe(), say);
    return plan;
  } catch (error) {
    return { reason: `the image of the routers cannot be made: ${(error as Error).message}` };
  }
}

/** Each step depends on the earlier ones, so the first failure is the last row. */
async function runSteps(session: Session, rows: Row[], say: (line: string) => void): Promise<'done'> {
  const begun = new Map<string, Promise<Outcome>>();
  const { enginePlan } = session;
  for (const { name: step, run, needs } of steps) {
    if (needs === 'engine' && 'reason' in enginePlan) {
      say(`  Not shown: ${step}. ${enginePlan.reason}`);
      continue;
    }
    try {
      for (const { prepare } of steps) if (prepare?.beside === step) await prepare.run(session);
      const row = { step, ...(await (begun.get(step) ?? run(session))) };
      rows.push(row);
      say(`${row.good ? '✔' : '✖'} ${step}: ${row.measured}`);
      for (const next of steps) {
        if (next.after !== step || (next.needs === 'engine' && 'reason' in enginePlan)) continue;
        const outcome = next.run(session);
        // A failure is that step's own, and is shown in its row.
        outcome.catch(() => undefined);
        begun.set(next.name, outcome);
      }
    } catch (error) {
      const measured = error instanceof Error ? error.message : String(error);
      rows.push({ step, expected: 'success', measured: 'failed, see above', good: false, figures: { error: measured } });
      say(`✖ ${step}: ${measured}`);
      break;
    }
  }
  return 'done';
}

/** Stops the server with its nodes; kills leftover processes, which counts as a failure. */
async function stopAll(session: Session): Promise<Row> {
  const code = await session.stop();
  const left = await processesOf(session.dataDirectory);
  for (const pid of left) process.kill(pid, 'SIGKILL');
  return {
    step: 'stop server and nodes',
    expected: 'exit code 0, nothing left',
    measured: `exit code ${code ?? 'none'}, ${left.length} processes left`,
    good: code === 0 && left.length === 0,
    figures: { code: code ?? 'none', left: left.length },
  };
}

function figures(rows: readonly Row[], tookMs: number, guest: Guest): string {
  const good = rows.every((row) => row.good);
  return `${JSON.stringify({ version, good, seconds: Math.round(tookMs / 100) / 10, guest, rows }, null, 2)}\n`;
}

function nextSteps({ server, topology }: Session): string {
  const project = `${server.url}/v2${topology.path}`;
  return `
The server answers on ${server.url} until you press Ctrl-C. Next steps:
  curl ${project}/nodes
  curl ${project}/links
  curl -X PUT ${project}/links/${topology.link.link_id} -d '{"filters": {"packet_loss": [30]}}'
  telnet 127.0.0.1 ${topology.vm1.console}     # VM1: ping 10.0.0.2
  telnet 127.0.0.1 ${topology.pc.console}     # PC1: ping 10.0.0.1`;
}

function readOptions(): Options {
  const flag = { type: 'boolean', default: false } as const;
  try {
    const { values } = parseArgs({
      options: { once: flag, keep: flag, json: { type: 'string' }, hosts: { type: 'string' }, help: flag },
    });
    if (values.help) {
      process.stdout.write(`${help}\n`);
      process.exit(0);
    }
    const { once, keep, json, hosts } = values;
    if (hosts !== undefined && !/^[3-8]$/.test(hosts)) throw new Error('--hosts takes a number from 3 to 8');
    return { once, keep, json, hosts: hosts === undefined ? undefined : Number(hosts) };
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${help}\n`);
    process.exit(2);
  }
}

try {
  const options = readOptions();
  process.exitCode = options.hosts === undefined ? await main(options) : await runHostsDemo(options.hosts, options);
} catch (error) {
  process.stderr.write(`The demo could not be run: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
