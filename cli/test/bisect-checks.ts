/** Decides in a bisection whether a fork is good: by the checks of a lab file, or the exit code of a command. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { dirname } from 'node:path';
import { plainText } from '../../lab/checks/report/plain-text.ts';
import { stepLine } from '../../lab/checks/report/summary.ts';
import type { StepReport } from '../../lab/checks/run/step-report.ts';
import { checkProject } from '../../lab/checks/test-lab.ts';
import type { Lab } from '../../lab/file/lab.ts';
import { LabError, suggestion } from '../../lab/file/lab-error.ts';
import type { Project } from '../../src/schema/project.ts';
import type { Snapshot } from '../../src/schema/snapshot.ts';
import { type CliCall, CliUsageError, textOption } from '../command.ts';
import { defaultFile, isFile, labOf } from '../lab/lab-source.ts';
import { userEnvironment } from '../lab/run-command.ts';
import type { BisectVerdict } from './bisect-search.ts';
import { checkApi } from './check-api.ts';

export interface BisectCheck {
  /** Description of the check for users. */
  readonly text: string;
  /** Judges a fork. @throws errors that end the bisection */
  judge(fork: Project, snapshot: Snapshot): Promise<BisectVerdict>;
}

/** Exit codes of `git bisect run`: 125 skips, other codes up to 127 are a failure of the check. */
const skipCode = 125;
/** Exit codes of the shell: cannot be executed, is not found. */
const unusableCodes: ReadonlySet<number> = new Set([126, 127]);
/** Time after which a command that ignores SIGTERM is killed, ms. */
const graceMs = 5_000;

/** Reads the check from the command line. @throws CliUsageError, LabError */
export async function readCheck(call: CliCall): Promise<BisectCheck> {
  const named = textOption(call, 'check');
  if ((named === undefined) === (call.rest.length === 0))
    throw new CliUsageError('give --check FILE, or a command behind `--`: one of the two');
  return named === undefined ? commandCheck(call) : labCheck(call, named);
}

async function labCheck(call: CliCall, named: string): Promise<BisectCheck> {
  const file = (await isFile(named)) ? named : defaultFile;
  const lab = await labOf({ ...call, args: [file] });
  const checks = file === named ? lab.checks : checksNamed(lab, named);
  if (checks.length === 0) throw new CliUsageError('the lab file has no checks. Add `checks` to it: see docs/verdicts.md');
  return {
    text: file === named ? `the checks of ${file}` : `the check "${named}" of ${file}`,
    async judge({ project_id: projectId }) {
      const { out, api, signal } = call;
      const options = { base: dirname(file), signal, onStep: (step: StepReport) => out.note(stepText(step)) };
      const { verdict, failure } = await checkProject(checkApi(api), { lab: { ...lab, checks }, projectId }, options);
      signal.throwIfAborted();
      if (verdict === 'void') out.note(`  The test proves nothing: ${failure ?? 'the emulation was not faithful'}`);
      return verdict === 'passed' ? 'good' : verdict === 'failed' ? 'bad' : 'skip';
    },
  };
}

/** Formats a step, with the reasons for a failure. */
function stepText(step: StepReport): string {
  return [stepLine(step), ...step.problems.map((problem) => `  ${plainText(problem)}`)].map((line) => `  ${line}`).join('\n');
}

function checksNamed({ checks }: Lab, name: string): Lab['checks'] {
  const found = checks.filter((check) => check.name === name);
  if (found.length > 0) return found;
  const names = checks.map((check) => check.name);
  throw new LabError(`there is no file and, in ${defaultFile}, no check "${name}"${suggestion(name, names)}`);
}

function commandCheck(call: CliCall): BisectCheck {
  const { rest, api } = call;
  const user = textOption(call, 'user');
  return {
    text: `\`${rest.join(' ')}\``,
    async judge({ project_id }, { name }) {
      const fork = { PATCHBAY_URL: api.url, PATCHBAY_PROJECT: project_id, PATCHBAY_CHECKPOINT: name };
      const env = userEnvironment({ ...fork, ...(user !== undefined && { PATCHBAY_USER: user }) });
      const code = await runCommand(call, env);
      if (code >= 128 || unusableCodes.has(code))
        throw new LabError(`\`${rest.join(' ')}\` ended with ${code}, which says nothing about the lab`);
      return code === 0 ? 'good' : code === skipCode ? 'skip' : 'bad';
    },
  };
}

/**
 * Runs the command, with its output on standard error because the result is on standard output. @returns its exit code, as a shell
 * reports it
 */
function runCommand({ rest: [program = '', ...args], signal }: CliCall, env: NodeJS.ProcessEnv): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const child = spawn(program, args, { env, stdio: ['inherit', process.stderr, process.stderr] });
  let timer: NodeJS.Timeout | undefined;
  const stop = () => {
    child.kill();
    timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
  };
  signal.addEventListener('abort', stop, { once: true });
  child.once('error', (error) => reject(new LabError(`\`${program}\` could not be started: ${error.message}`)));
  child.once('close', (code, signalName) => {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    if (signal.aborted) reject(signal.reason as Error);
    else resolve(code ?? 128 + (signalName ? constants.signals[signalName] : 0));
  });
  return promise;
}
