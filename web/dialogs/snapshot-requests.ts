/** Requests for snapshots, with the questions that precede them. `path`: of the project. */
import type { Project } from '../../src/schema/project.ts';
import type { Snapshot } from '../../src/schema/snapshot.ts';
import { ApiError } from '../api.ts';
import type { App } from '../state/app.ts';
import { ask } from '../ui/ask.tsx';
import { snapshotTexts } from './snapshot-texts.ts';

/** `memory`: running machines are kept, too. Resolves to what to say of it. @throws ApiError */
export async function takeSnapshot(app: App, path: string, name: string, memory: boolean): Promise<string> {
  await app.api.post(`${path}/snapshots`, { name, ...(memory && { memory }) });
  noteChange(app, path);
  return memory ? snapshotTexts.frozen(name) : snapshotTexts.taken(name);
}

/** @throws ApiError */
export async function deleteSnapshot(app: App, path: string, { snapshot_id }: Snapshot): Promise<void> {
  await app.api.delete(`${path}/snapshots/${snapshot_id}`);
  noteChange(app, path);
}

/** Has the lists of snapshots read again: of these changes the server sends no notification. */
function noteChange({ project }: App, path: string): void {
  const open = project.peek();
  if (open?.path === path) open.snapshotChanges.value += 1;
}

/** Takes a snapshot without a dialog, and says so; without a name, that of the time. @throws ApiError */
export async function takeNow(
  app: App,
  path: string,
  { name, memory }: { readonly name?: string; readonly memory: boolean },
): Promise<void> {
  const names = async () => (await app.api.get<Snapshot[]>(`${path}/snapshots`)).map((one) => one.name);
  const chosen = name ?? unusedName(await names());
  app.toasts.show('info', memory ? snapshotTexts.freezing : snapshotTexts.savingSnapshot);
  app.toasts.show('done', await takeSnapshot(app, path, chosen, memory));
}

/** Asks whether to bring the project back to a snapshot. */
export const askRestore = (app: App, { name, memory }: Snapshot): Promise<boolean> =>
  ask(app, memory ? snapshotTexts.askRewind(name) : snapshotTexts.askRestore(name));

/** Asks again before it gives up a present that cannot be kept. @throws ApiError */
export async function restoreSnapshot(app: App, path: string, { snapshot_id }: Snapshot): Promise<void> {
  const request = `${path}/snapshots/${snapshot_id}/restore`;
  try {
    await app.api.post(request);
  } catch (error) {
    const isAsked = error instanceof ApiError && ['present_without_room', 'present_not_kept'].includes(error.code);
    if (!isAsked || !(await ask(app, snapshotTexts.askGiveUp(error.message)))) throw error;
    await app.api.post(request, { keep_present: false });
  }
}

/** Text to show once a snapshot is restored. */
export const restoredText = ({ name, memory }: Snapshot): string =>
  memory ? snapshotTexts.rewound(name) : snapshotTexts.restored(name);

/** Makes projects whose machines continue from a snapshot. @throws ApiError */
export const forkSnapshot = ({ api }: App, path: string, { snapshot_id }: Snapshot, count: number): Promise<Project[]> =>
  api.post<Project[]>(`${path}/snapshots/${snapshot_id}/fork`, { count });

/** The time, as a name that no snapshot has. */
export function unusedName(taken: readonly string[]): string {
  const now = new Date();
  const day = now.toLocaleDateString('en', { day: 'numeric', month: 'short' });
  const time = now.toLocaleTimeString('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).replace(':', '.');
  const name = `${day}, ${time}`;
  const names = [name, ...taken.map((_, place) => `${name} (${place + 2})`)];
  return names.find((one) => !taken.includes(one)) ?? name;
}
