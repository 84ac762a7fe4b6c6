/**
 * A thread that processes one lab file: parsing a megabyte takes seconds, planning thousands of nodes tenths of a second. It calls
 * the server's API like every client.
 */
import { getPriority, setPriority } from 'node:os';
import { serialize } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import { JsonText } from '../../src/lib/json-text.ts';
import { applyPlan } from '../apply.ts';
import type { Lab } from '../file/lab.ts';
import { LabError } from '../file/lab-error.ts';
import { filesOf } from '../file/lab-files.ts';
import { loadLab } from '../file/load-lab.ts';
import { pictureOf } from '../lab-picture.ts';
import { planWithState } from '../open-lab.ts';
import { linesOf } from '../plan/lab-plan.ts';
import type { LabMessage, LabWork } from './lab-job.ts';
import { FailedRequest, ThreadApi } from './thread-api.ts';

/** Longest resolved lab, bytes: its nodes multiply the values of the file, and the project must hold them. */
const maxBytes = 16_777_216;
/** Size of one message, so that the server passes it on at once. Bytes. */
const pieceBytes = 262_144;
/**
 * Niceness, so that the server has priority where processors are scarce. On Linux the value applies to the thread: setpriority(2).
 */
const niceness = 5;

const { requests, ...job } = workerData as LabWork;
const api = new ThreadApi(requests);
const post = (message: LabMessage): void => parentPort?.postMessage(message);

// A server may run with a higher value, which users may not lower.
if (process.platform === 'linux') setPriority(Math.max(niceness, getPriority()));
try {
  await (job.want === 'plan' ? plan() : apply());
  post({ what: 'end' });
} catch (error) {
  if (error instanceof LabError) post({ what: 'failed', by: { words: error.message } });
  else if (error instanceof FailedRequest) post({ what: 'failed', by: { request: error.request } });
  else throw error;
} finally {
  requests.close();
}

async function plan(): Promise<void> {
  const lab = await load();
  const planned = await planWithState(api, lab, { project: job.project });
  const { project } = planned.plan;
  const reply = {
    name: project.name,
    project_id: project.id ?? null,
    steps: linesOf(planned.plan),
    missing: planned.plan.missing,
    unseen: planned.plan.unseen ?? [],
    picture: pictureOf(lab, planned.plan, planned.state),
  };
  send(new JsonText().encode(reply));
}

async function apply(): Promise<void> {
  const lab = await load();
  const planned = await planWithState(api, lab, { project: job.project, open: true });
  const sendLine = (line: object) => send(Buffer.from(`${JSON.stringify(line)}\n`));
  sendLine({ steps: linesOf(planned.plan) });
  const { project_id, name } = await applyPlan(api, lab, planned.plan, {
    start: job.start,
    strict: job.strict,
    onProgress: sendLine,
  });
  sendLine({ project_id, name });
}

async function load(): Promise<Lab> {
  const lab = await loadLab({ ...job, files: filesOf(job.files) });
  // Checks hold functions, which cannot be serialized; only `patchbay test` runs them.
  const { length } = serialize({ ...lab, checks: [] });
  if (length > maxBytes) throw new LabError(`the lab has ${length} bytes when it is resolved, and may have ${maxBytes}. Divide it`);
  return lab;
}

function send(bytes: Buffer): void {
  for (let at = 0; at < bytes.length; at += pieceBytes) post({ what: 'piece', bytes: bytes.subarray(at, at + pieceBytes) });
}
