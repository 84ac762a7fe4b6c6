/** A thread that runs the checks of a lab file on an open project, and sends a line for each result. It calls the server's API like every client. */
import { parentPort, workerData } from 'node:worker_threads';
import { LabError } from '../../file/lab-error.ts';
import { filesOf } from '../../file/lab-files.ts';
import { loadLab } from '../../file/load-lab.ts';
import type { LabMessage, LabWork } from '../../thread/lab-job.ts';
import { FailedRequest } from '../../thread/thread-api.ts';
import type { HostCommand } from '../api/check-api.ts';
import { PlatformError } from '../console/platforms.ts';
import { NoCommandError } from '../probes/node-probe.ts';
import { SiteError } from '../run/lab-site.ts';
import { findFirstFailure, type StepReport } from '../run/step-report.ts';
import { checkProject } from '../test-lab.ts';
import { CheckThreadApi } from './check-thread-api.ts';
import { refuseHost } from './refuse-host.ts';

/** The job of this thread: a lab file, and the means to check it. */
export interface CheckJob {
  readonly tcpdump: HostCommand;
}

/** Longest run, ms. */
const limitMs = 15 * 60_000;
/** Longest sentence of a result, characters: it may quote what a node printed. */
const longestProblem = 500;
const mostProblems = 5;
/** Folder of the lab file: it is none, so that no file of the server is below it. */
const base = '/dev/null';

const { requests, tcpdump, ...job } = workerData as LabWork & CheckJob;
const post = (message: LabMessage): void => parentPort?.postMessage(message);
const send = (line: object): void => post({ what: 'piece', bytes: Buffer.from(`${JSON.stringify(line)}\n`) });
const limit = AbortSignal.timeout(limitMs);
/** The client has left: what runs ends, and takes its captures along. */
const left = new AbortController();
parentPort?.once('message', () => left.abort()).unref();

try {
  await run();
  post({ what: 'end' });
} catch (error) {
  if (left.signal.aborted) post({ what: 'end' });
  else if (error instanceof FailedRequest) post({ what: 'failed', by: { request: error.request } });
  else if (limit.aborted) post({ what: 'failed', by: { words: `its checks took more than ${limitMs / 60_000} minutes` } });
  else if ([LabError, SiteError, PlatformError, NoCommandError].some((known) => error instanceof known))
    post({ what: 'failed', by: { words: (error as Error).message } });
  else throw error;
} finally {
  requests.close();
}

async function run(): Promise<void> {
  const lab = await loadLab({ ...job, files: filesOf(job.files) });
  refuseHost(lab);
  const { verdict, certificate } = await checkProject(
    new CheckThreadApi(requests, tcpdump),
    { lab, projectId: job.project ?? '' },
    {
      base,
      signal: AbortSignal.any([limit, left.signal]),
      keepsLinks: true,
      onBegin: () => send({ checks: lab.checks.map(({ name }) => name) }),
      onStep: (step) => send({ check: resultOf(step) }),
    },
  );
  send({ verdict, reasons: certificate?.reasons.slice(0, mostProblems) ?? [] });
}

function resultOf(step: StepReport): object {
  const { name, outcome, durationMs } = step;
  const { problems } = findFirstFailure([step]) ?? step;
  const shown = problems.slice(0, mostProblems).map((problem) => problem.slice(0, longestProblem));
  return { name, outcome, problems: shown, duration_ms: durationMs };
}
