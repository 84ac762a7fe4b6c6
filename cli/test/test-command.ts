/** `patchbay test`: runs the checks of a lab file. */
import { dirname } from 'node:path';
import { PlatformError } from '../../lab/checks/console/platforms.ts';
import { NoCommandError } from '../../lab/checks/probes/node-probe.ts';
import { stepLine, summaryText } from '../../lab/checks/report/summary.ts';
import type { TestVerdict } from '../../lab/checks/report/test-report.ts';
import { SiteError } from '../../lab/checks/run/lab-site.ts';
import { ReplayError } from '../../lab/checks/run/read-replay.ts';
import { SshError } from '../../lab/checks/ssh/ssh-access.ts';
import { testLab } from '../../lab/checks/test-lab.ts';
import type { Lab } from '../../lab/file/lab.ts';
import { LabError } from '../../lab/file/lab-error.ts';
import { type CliCall, type CliCommand, CliUsageError, serverOptions, textOption, varOption } from '../command.ts';
import { defaultFile, labOf } from '../lab/lab-source.ts';
import { startOwnServer } from '../lab/own-server.ts';
import { RequestError, ServerClient } from '../server-client.ts';
import { checkApi } from './check-api.ts';
import { refuseReach } from './untrusted.ts';
import { jsonReport, writeReport } from './write-report.ts';

/** Exit codes; a mistake in the file or on the command line is 2. */
const exitCodes: Readonly<Record<TestVerdict, number>> = { passed: 0, failed: 1, void: 3 };
const mistakeCode = 2;
const interruptedCode = 130;

export const testCommand: CliCommand = {
  name: 'test',
  args: '[FILE]',
  takesFiles: true,
  isLocal: true,
  mistakeCode,
  summary: 'Run the checks of a lab; exit code 0: all hold, 1: one fails, 2: a mistake in the file, 3: the test proves nothing',
  options: {
    junit: { value: 'FILE', description: 'Write the report as JUnit XML', isFile: true },
    html: { value: 'FILE', description: 'Write the report as one HTML page', isFile: true },
    artifacts: { value: 'FOLDER', description: 'Write all reports, consoles and captures into a folder', isFile: true },
    seed: { value: 'N', description: 'Seed of all filters without one (default: that of the file, else chosen and printed)' },
    'strict-chance': {
      value: 'P',
      description: 'Refuse checks that a faithful emulation fails with a larger probability, such as 1e-3',
    },
    keep: { description: 'Keep the project; not with a server of its own' },
    isolated: { description: 'Start a server for the test, even if one runs (default: only if none answers)' },
    untrusted: { description: 'Give the lab nothing of this machine but its images; starts a server for the test' },
    ...varOption,
    ...serverOptions,
  },
  agent: { effect: 'changes', options: ['seed', 'var'], results: [1, 3] },
  examples: [
    { line: 'patchbay test', does: 'The checks of ./lab.yaml' },
    { line: 'patchbay test ring.yaml --junit junit.xml --html report.html', does: 'In a pipeline' },
    { line: 'patchbay test ring.yaml --seed 7', does: 'Again with the same losses' },
  ],
  run: async (call) => {
    try {
      const lab = await labOf(call);
      if (lab.checks.length === 0) throw new CliUsageError('the lab file has no checks. Add `checks` to it: see docs/verdicts.md');
      if (call.options.untrusted) refuseReach(lab);
      return await onServer(call, (client) => runTest(call, client, lab));
    } catch (error) {
      if (call.signal.aborted) {
        const fate = call.options.keep ? 'the project stays as it is' : 'the lab was torn down';
        call.out.note(`patchbay test: interrupted; ${fate}`);
        return interruptedCode;
      }
      const isMistake = [LabError, SiteError, SshError, PlatformError, NoCommandError, ReplayError, CliUsageError].some(
        (type) => error instanceof type,
      );
      const isRefused = error instanceof RequestError && error.status >= 400 && error.status < 500;
      call.out.note(`patchbay test: ${(error as Error).message}`);
      return isMistake || isRefused ? mistakeCode : exitCodes.void;
    }
  },
};

async function runTest(call: CliCall, client: ServerClient, lab: Lab): Promise<number> {
  const { out, options, signal } = call;
  const report = await testLab(checkApi(client), lab, {
    seed: seedOption(call),
    strictChance: chanceOption(call),
    keep: options.keep === true,
    base: dirname(call.args[0] ?? defaultFile),
    signal,
    cleanup: client.withoutSignal(),
    onNote: (text) => out.note(text),
    onStep: (step) => out.note(stepLine(step)),
  });
  await writeReport(report, {
    junit: textOption(call, 'junit'),
    html: textOption(call, 'html'),
    artifacts: textOption(call, 'artifacts'),
  });
  if (out.isJson) out.json(jsonReport(report));
  else out.print(summaryText(report).trimEnd());
  return exitCodes[report.verdict];
}

/** Uses the server that was named, else the one at the default address, else a temporary one. */
async function onServer(call: CliCall, use: (client: ServerClient) => Promise<number>): Promise<number> {
  const { isolated, untrusted } = call.options;
  const isNamed = textOption(call, 'url') !== undefined || Boolean(process.env.PATCHBAY_URL);
  if (!isolated && !untrusted && (isNamed || (await answers(call.api)))) return use(call.api);
  if (call.options.keep) throw new CliUsageError('--keep needs a server that stays: name one with --url');
  call.out.note('Starting a server for this test');
  const server = await startOwnServer({ isLocal: !untrusted });
  try {
    call.signal.throwIfAborted();
    return await use(new ServerClient({ url: server.url }, call.signal));
  } finally {
    await server.end();
  }
}

async function answers(api: ServerClient): Promise<boolean> {
  try {
    await api.json('GET', '/v2/version');
    return true;
  } catch (error) {
    // A server that requires a password is running as well.
    return error instanceof RequestError && error.status !== 0;
  }
}

function chanceOption(call: CliCall): number | undefined {
  const text = textOption(call, 'strict-chance');
  if (text === undefined) return undefined;
  const chance = Number(text);
  if (!(chance >= 0 && chance <= 1) || text.trim() === '')
    throw new CliUsageError(`--strict-chance takes a number from 0 to 1, not "${text}"`);
  return chance;
}

function seedOption(call: CliCall): number | undefined {
  const text = textOption(call, 'seed');
  if (text === undefined) return undefined;
  const seed = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (seed < 1 || seed > 2_147_483_647) throw new CliUsageError(`--seed takes a number from 1 to 2147483647, not "${text}"`);
  return seed;
}
