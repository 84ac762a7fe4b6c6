/** Runs the steps of `steps-hosts.ts`, prints the table, and leaves nothing. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { HostsLab } from './hosts-lab.ts';
import { hostsSteps } from './steps-hosts.ts';
import { type Row, renderTable } from './table.ts';

/** Exit code: 0 only if every row is good. */
export async function runHostsDemo(count: number, { json }: { readonly json: string | undefined }): Promise<number> {
  if (process.geteuid?.() !== 0) throw new Error('network namespaces need root: run it with sudo');
  const say = (line: string) => process.stdout.write(`${line}\n`);
  const folder = await mkdtemp(path.join(tmpdir(), 'patchbay-hosts-'));
  await mkdir(path.join(folder, 'controller'));
  const lab = new HostsLab(folder, count);
  const rows: Row[] = [];
  const interrupted = Promise.withResolvers<Row>();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => interrupted.reject(new Error(`interrupted by ${signal}`)));
  try {
    for (const [step, run] of hostsSteps) {
      const outcome = await Promise.race([run(lab).then((row) => ({ step, ...row })), interrupted.promise]);
      rows.push(outcome);
      say(`${outcome.good ? '✔' : '✖'} ${step}: ${outcome.measured}`);
    }
  } finally {
    const code = await lab.stop();
    rows.push({ step: 'stop', expected: 'exit code 0', measured: `exit code ${code ?? 'none'}`, good: code === 0, figures: {} });
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
  say(`\n${renderTable(rows, { colour: process.stdout.isTTY === true && process.env.NO_COLOR === undefined })}`);
  if (json !== undefined) await writeFile(json, `${JSON.stringify({ rows }, null, 2)}\n`);
  return rows.every(({ good }) => good) ? 0 : 1;
}
