/** Undoes the changes of one client in a project, by the steps in the project's history. */
import type { History, HistoryEntry } from '../../src/schema/history.ts';
import { RequestError, type ServerClient } from '../server-client.ts';
import type { Undo } from './change.ts';

/** Content of a node's file before it was changed; undefined: the file did not exist. */
export interface FileBefore {
  readonly path: string;
  readonly text: string | undefined;
}

/** Returns the undo of a client's steps; undefined when the client changed nothing. */
export async function undoOfSteps(
  api: ServerClient,
  { projectId, client, isNew = false, isInterrupted = false, files = [] }: UndoWish,
): Promise<Undo | undefined> {
  const path = `/v2/projects/${projectId}`;
  if (isNew) return { does: 'delete the project, unless others changed it since', run: () => deleteProject(api, path, client) };
  const steps = await stepsOf(api, path, client);
  if (steps.length === 0 && files.length === 0 && !isInterrupted) return undefined;
  const count = isInterrupted ? 'its steps' : steps.length === 1 ? 'the step' : `${steps.length} steps`;
  return {
    does: `undo ${count} in the history of the project${files.length > 0 ? `, and restore ${files.length} files` : ''}`,
    run: async () => {
      // An interrupted call may have made further steps by now.
      for (const step of await stepsOf(api, path, client)) await undoStep(api, path, step);
      for (const { path: file, text } of files) await (text === undefined ? removeFile(api, file) : api.upload(file, text));
      return 'Undone.';
    },
  };
}

interface UndoWish {
  readonly projectId: string;
  readonly client: string;
  /** Whether the client created the project. */
  readonly isNew?: boolean;
  /** Whether the server may still be processing a request of the client. */
  readonly isInterrupted?: boolean;
  readonly files?: readonly FileBefore[];
}

/** Lists a client's steps, the last one first. */
export async function stepsOf(api: ServerClient, path: string, client: string): Promise<number[]> {
  const { entries } = await api.json<History>('GET', `${path}/history?limit=1000`);
  const own = entries.filter(({ by, inverts, step }) => by === client && inverts === null && step !== null);
  return [...new Set(own.map(({ step }) => step ?? 0))].toSorted((a, b) => b - a);
}

/** Removes a file, which may be gone already. On a stock GNS3 compute an empty file stays. */
async function removeFile(api: ServerClient, path: string): Promise<void> {
  try {
    await api.json('DELETE', path);
  } catch (error) {
    if (!(error instanceof RequestError) || error.status !== 404) throw error;
    if ((await api.text(path)) !== undefined) await api.upload(path, '');
  }
}

async function undoStep(api: ServerClient, path: string, step: number): Promise<void> {
  try {
    await api.json('POST', `${path}/undo`, { step });
  } catch (error) {
    if (!(error instanceof RequestError) || error.status !== 409) throw error;
    throw new RequestError(409, `It cannot be undone: the project was changed since. ${error.message}`, { cause: error });
  }
}

async function deleteProject(api: ServerClient, path: string, client: string): Promise<string> {
  const { entries } = await api.json<History>('GET', `${path}/history?limit=1000`);
  const other = findForeign(entries, client);
  if (other)
    throw new RequestError(409, `It cannot be undone: ${other.by ?? 'another client'} changed the project since (${other.action})`);
  await api.json('POST', `${path}/close`, {});
  await api.json('DELETE', path);
  return 'Undone: the project is deleted.';
}

/** Finds a change of another client that is still in effect. An entry without step and name is the server's own. */
function findForeign(entries: readonly HistoryEntry[], client: string): HistoryEntry | undefined {
  const inverses = new Map<number, number>();
  const reverted = new Set<number>();
  for (const { step, inverts } of entries.toSorted((a, b) => a.seq - b.seq)) {
    if (step === null || inverts === null) continue;
    inverses.set(step, inverts);
    reverted.add(inverts);
    // A redo reverts the undo of a step.
    reverted.delete(inverses.get(inverts) ?? 0);
  }
  return entries.find(
    ({ by, step, inverts }) => by !== client && inverts === null && (step === null ? by !== null : !reverted.has(step)),
  );
}
