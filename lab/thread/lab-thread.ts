/**
 * A thread that processes one lab file: parsing a megabyte takes seconds, planning thousands of nodes tenths of a second. It calls
 * the server's API like every client.
 */
import { getPriority, setPriority } from 'node:os';
import { basename } from 'node:path';
import { serialize } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import { JsonText } from '../../src/lib/json-text.ts';
import { applyPlan } from '../apply.ts';
import { exportFrom } from '../export.ts';
import type { Lab } from '../file/lab.ts';
import { LabError } from '../file/lab-error.ts';
import { filesOf } from '../file/lab-files.ts';
import { loadLab } from '../file/load-lab.ts';
import { layOut } from '../layout.ts';
import { planWithState } from '../open-lab.ts';
import { itemLines } from '../plan/item-lines.ts';
import { type LabPlan, linesOf, type PlanAction } from '../plan/lab-plan.ts';
import { getProject, type LabProjectState } from '../state/lab-state.ts';
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
  if (job.want !== 'check') await { plan, apply, export: exportProject }[job.want]();
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
    lines: itemLines(lab, { file: basename(job.file), state: planned.state, steps: planned.plan.nodes }),
  };
  send(new JsonText().encode(reply));
}

async function exportProject(): Promise<void> {
  send(Buffer.from(await exportFrom(api, await getProject(api, job.project ?? ''))));
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

interface LabPicture {
  readonly nodes: readonly { readonly name: string; readonly x: number; readonly y: number; readonly action: PlanAction | null }[];
  readonly links: readonly { readonly ends: readonly [string, string]; readonly action: PlanAction | null }[];
}

function pictureOf(lab: Lab, plan: LabPlan, state: LabProjectState | undefined): LabPicture {
  const present = new Map((state?.nodes ?? []).map((node) => [node.name.replaceAll(' ', ''), node]));
  const places = layOut(lab, state?.nodes ?? []);
  const actions = new Map(plan.nodes.map(({ name, action }) => [name.replaceAll(' ', ''), action]));
  const own = lab.nodes.map(({ name, fields }) => {
    const { x = 0, y = 0 } = { ...places.get(name), ...present.get(name), ...fields } as { x?: number; y?: number };
    return { name, x, y, action: actions.get(name) ?? null };
  });
  const deleted = [...present.values()].flatMap(({ name, x, y }) =>
    actions.get(name.replaceAll(' ', '')) === 'delete' ? [{ name, x, y, action: 'delete' as const }] : [],
  );
  const fresh = new Set(plan.links.filter(({ action }) => action === 'create').map(({ name }) => withoutPorts(name)));
  const links = lab.links.map(({ ends: [one, other] }) => {
    const ends = [one.node, other.node] as const;
    return { ends, action: fresh.has(ends.join(' ')) ? ('create' as const) : null };
  });
  return { nodes: [...own, ...deleted], links };
}

/** Removes the ports from a link's name: `R1:eth0 - R2:eth0` becomes `R1 R2`. */
function withoutPorts(name: string): string {
  return name
    .split(' - ')
    .map((end) => end.slice(0, end.lastIndexOf(':')))
    .join(' ');
}
