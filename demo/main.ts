/**
 * `npm run demo`: starts a server, has two virtual machines and a VPCS talk across links, impairs a link through the HTTP API, and
 * shows with measured figures that the traffic follows.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { version } from '../src/version.ts';
import { ensureGuest, type Guest } from './guest/guest.ts';
import { processesOf } from './server.ts';
import { Steps } from './steps.ts';
import { type Row, renderTable } from './table.ts';

const help = `Usage: npm run demo [-- options]

Starts a server on a free port with a data directory of its own, boots two virtual machines and a VPCS, and measures what
happens on the links between them.

  --once        end after the table; exit code 0 only if every row is good
  --json FILE   write the figures to FILE
  --keep        leave the data directory in place at the end
  --help        print this and end`;

interface Options {
  once: boolean;
  keep: boolean;
  json: string | undefined;
}

async function main(options: Options): Promise<number> {
  const say = (line: string) => process.stdout.write(`${line}\n`);
  const interrupted = new Promise<'interrupted'>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve('interrupted'));
  });
  const guest = await ensureGuest(say);
  const began = performance.now();
  const steps = new Steps(await mkdtemp(path.join(tmpdir(), 'patchbay-demo-')), guest);
  const rows: Row[] = [];
  try {
    const outcome = await Promise.race([runSteps(steps, rows, say), interrupted]);
    if (outcome === 'interrupted') return 130;
    const complete = rows.every(({ good }) => good);
    if (options.once && steps.server) rows.push(await stopAll(steps));
    const tookMs = performance.now() - began;
    say(`\n${renderTable(rows, { colour: process.stdout.isTTY === true && process.env.NO_COLOR === undefined })}`);
    say(
      `\n${rows.every(({ good }) => good) ? 'Every row is good' : 'Not every row is good'}, after ${(tookMs / 1000).toFixed(1)} s.`,
    );
    if (options.json !== undefined) await writeFile(options.json, figures(rows, tookMs, guest));
    if (!options.once && complete) {
      say(howToLookFurther(steps));
      await interrupted;
      say('Stopping the nodes and the server');
    }
    return rows.every(({ good }) => good) ? 0 : 1;
  } finally {
    await stopAll(steps);
    if (options.keep) say(`The data directory is ${steps.dataDirectory}`);
    else await rm(steps.dataDirectory, { recursive: true, force: true });
  }
}

/** Each step relies on those before it, so the first that cannot be carried out is the last. */
async function runSteps(steps: Steps, rows: Row[], say: (line: string) => void): Promise<'done'> {
  for (const [step, run] of steps.list()) {
    try {
      const row = { step, ...(await run()) };
      rows.push(row);
      say(`${row.good ? '✔' : '✖'} ${step}: ${row.measured}`);
    } catch (error) {
      const measured = error instanceof Error ? error.message : String(error);
      rows.push({ step, expected: 'it can be done', measured: 'failed, see above', good: false, figures: { error: measured } });
      say(`✖ ${step}: ${measured}`);
      break;
    }
  }
  return 'done';
}

/** Ends the server with its nodes; whatever is left then is ended by force, and that is not good. */
async function stopAll(steps: Steps): Promise<Row> {
  steps.closeConsoles();
  const server = steps.server;
  steps.server = undefined;
  const code = await server?.stop();
  const left = await processesOf(steps.dataDirectory);
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

function howToLookFurther({ url, topology }: Steps): string {
  const project = `${url}/v2${topology.path}`;
  return `
The server answers on ${url} until you press Ctrl-C. To look further:
  curl ${project}/nodes
  curl ${project}/links
  curl -X PUT ${project}/links/${topology.link.link_id} -d '{"filters": {"packet_loss": [30]}}'
  telnet 127.0.0.1 ${topology.vm1.console}     # VM1: ping 10.0.0.2
  telnet 127.0.0.1 ${topology.pc.console}     # PC1: ping 10.0.0.1`;
}

function readOptions(): Options {
  const flag = { type: 'boolean', default: false } as const;
  try {
    const { values } = parseArgs({ options: { once: flag, keep: flag, json: { type: 'string' }, help: flag } });
    if (values.help) {
      process.stdout.write(`${help}\n`);
      process.exit(0);
    }
    return { once: values.once, keep: values.keep, json: values.json };
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${help}\n`);
    process.exit(2);
  }
}

try {
  process.exitCode = await main(readOptions());
} catch (error) {
  process.stderr.write(`The demo could not be run: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
