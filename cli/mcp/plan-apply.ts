/** Runs an agent's `lab apply` in one request, so that it is one step in the project's history. */
import { LabError } from '../../lab/file/lab-error.ts';
import type { LabFiles } from '../../lab/file/lab-files.ts';
import { loadLab } from '../../lab/file/load-lab.ts';
import { planWithState } from '../../lab/open-lab.ts';
import { type LabPlan, linesOf } from '../../lab/plan/lab-plan.ts';
import { filePath, type LabProjectState } from '../../lab/state/lab-state.ts';
import type { LabApplyLine } from '../../src/schema/lab.ts';
import { type CliCall, textOption } from '../command.ts';
import { labSourceOf } from '../lab/lab-source.ts';
import { showLacks, showPlan } from '../lab/show-plan.ts';
import { RequestError, type ServerClient } from '../server-client.ts';
import type { AgentChange, MadeChange, Undo } from './change.ts';
import { TextOutput } from './text-output.ts';
import { type FileBefore, stepsOf, undoOfSteps } from './undo-steps.ts';

export async function planApply(call: CliCall, client: string): Promise<AgentChange> {
  const source = await labSourceOf(call);
  const read: Record<string, string> = {};
  const lab = await loadLab({ ...source, files: recordingFiles(source.files, read) });
  const project = textOption(call, 'project');
  const { plan, state } = await planWithState(call.api, lab, { project });
  const output = new TextOutput();
  showPlan(linesOf(plan), output);
  showLacks(plan, output);
  const body = {
    lab: source.text,
    files: read,
    vars: source.vars,
    file: source.file,
    ...(project !== undefined && { project }),
  };
  const isNew = plan.project.id === undefined;
  return {
    preview: output.text,
    undo: isNew
      ? 'Undoing it deletes the project.'
      : 'It is one step, which can be undone. Nodes that were running and are deleted or made anew are stopped afterwards.',
    make: () => apply(call.api, { body, plan, state, client }),
  };
}

/** Records the content of every file that is read, because the server reads no files of this machine. */
function recordingFiles(files: LabFiles, read: Record<string, string>): LabFiles {
  return {
    async read(path, place) {
      const text = await files.read(path, place);
      read[path] = text;
      return text;
    },
  };
}

interface ApplyWish {
  readonly body: object;
  readonly plan: LabPlan;
  readonly state: LabProjectState | undefined;
  readonly client: string;
}

async function apply(caller: ServerClient, { body, plan, state, client }: ApplyWish): Promise<MadeChange> {
  let last: LabApplyLine;
  let isInterrupted = false;
  try {
    const answer = await caller.send('POST', '/v2/labs/apply', JSON.stringify(body));
    last = JSON.parse((await answer.text()).trim().split('\n').at(-1) ?? '{}') as LabApplyLine;
  } catch (error) {
    // The server refused the request before any change. An interruption differs: the last line says what was done.
    if (error instanceof RequestError && error.status !== 0) throw error;
    isInterrupted = true;
    last = { failure: `it was interrupted (${(error as Error).message})` };
  }
  // The call may have been cancelled, but its changes must still be found.
  const api = caller.withoutSignal();
  const { failure, project_id } = last;
  const projectId = plan.project.id ?? project_id ?? (await findByName(api, plan.project.name));
  const isNew = plan.project.id === undefined;
  const files = filesBefore(plan, state);
  const undo =
    projectId === undefined
      ? isInterrupted
        ? undoOfLateProject(api, plan.project.name, client)
        : undefined
      : await undoOfSteps(api, { projectId, client, isNew, isInterrupted, files });
  const text = failure
    ? `It was carried out in part, and failed: ${failure}`
    : `${plan.project.name} is as the file says: ${api.url}/projects/${projectId}`;
  return { text, ...(failure !== undefined && { isError: true }), ...(undo && { undo }) };
}

/** Returns the undo of a call that was interrupted before its project was found: the server may create the project later. */
function undoOfLateProject(api: ServerClient, name: string, client: string): Undo {
  return {
    does: `delete the project ${name}, if the interrupted call has made it`,
    run: async () => {
      const projectId = await findByName(api, name);
      const path = `/v2/projects/${projectId}`;
      // Another client may have created a project of this name.
      const isOwn = projectId !== undefined && (await stepsOf(api, path, client)).length > 0;
      if (!isOwn) return `There is no project ${name} that the call has made nodes in.`;
      const undo = await undoOfSteps(api, { projectId, client, isNew: true });
      return undo?.run() ?? 'Nothing was changed.';
    },
  };
}

/** Finds a project that could not be created completely. */
async function findByName(api: ServerClient, name: string): Promise<string | undefined> {
  const projects = await api.json<{ name: string; project_id: string }[]>('GET', '/v2/projects');
  return projects.find((project) => project.name === name)?.project_id;
}

/** Reads the files that the project's history does not restore: files of nodes that stay. */
function filesBefore({ nodes }: LabPlan, state: LabProjectState | undefined): FileBefore[] {
  if (!state) return [];
  const path = `/v2/projects/${state.project.project_id}`;
  return nodes.flatMap(({ action, id, files }) => {
    const before = action === 'update' && id !== undefined ? state.files.get(id) : undefined;
    if (id === undefined || action !== 'update') return [];
    return [...files.keys()].map((file) => ({ path: filePath(path, id, file), text: before?.get(file) }));
  });
}

/** Explains the error for a closed project, because agents do not open projects by planning. @throws LabError */
export function explainClosed(error: unknown): unknown {
  if (error instanceof LabError && error.message.includes('is closed'))
    return new LabError(`${error.message.split('. ')[0]}. lab_start opens it, and starts its nodes`);
  return error;
}
