/** The snapshots of a project, with the running task and its outcome. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { CheckpointStatus } from '../../src/schema/checkpoint.ts';
import type { Project, ProjectUpdate } from '../../src/schema/project.ts';
import type { Snapshot } from '../../src/schema/snapshot.ts';
import { useApp } from '../state/app.ts';
import { texts } from '../texts.ts';
import { ask } from '../ui/ask.tsx';
import { useReadings } from '../ui/readings.ts';
import { askRestore, deleteSnapshot, forkSnapshot, restoredText, restoreSnapshot, takeSnapshot } from './snapshot-requests.ts';
import type { SnapshotActions } from './snapshot-row.tsx';
import { snapshotTexts } from './snapshot-texts.ts';

export function useSnapshots(project: Project, close: () => void) {
  const app = useApp();
  const list = useSignal<readonly Snapshot[]>([]);
  const status = useSignal<CheckpointStatus | undefined>(undefined);
  const changed = useSignal<Project | undefined>(undefined);
  const projectPath = `/v2/projects/${project.project_id}`;
  const path = `${projectPath}/snapshots`;
  const begin = useReadings();
  const read = async () => {
    const inOrder = begin();
    const requests = [app.api.get<Snapshot[]>(path), app.api.get<CheckpointStatus>(`${projectPath}/checkpoints`)] as const;
    const answers = await Promise.all(requests);
    inOrder(() => ([list.value, status.value] = answers));
  };
  const { busy, outcome, failed, run } = useTask(read);
  useChanges(() => void read().catch(failed));
  const actions: SnapshotActions = {
    async restore(snapshot) {
      if (!(await askRestore(app, snapshot))) return;
      const what = snapshot.memory ? snapshotTexts.rewinding : snapshotTexts.restoring;
      if (!(await run(what, () => restoreSnapshot(app, projectPath, snapshot).then(silently)))) return;
      close();
      app.toasts.show('done', restoredText(snapshot));
    },
    async fork(snapshot, count) {
      await run(snapshotTexts.forking, async () => {
        const projects = await forkSnapshot(app, projectPath, snapshot, count);
        return { success: snapshotTexts.forked(projects.length), projects };
      });
    },
    async keep({ snapshot_id }) {
      await run('', () => app.api.put(`${path}/${snapshot_id}`, { checkpoint: false }).then(silently));
    },
    async remove(snapshot) {
      if (await ask(app, { ...snapshotTexts.askDeleteSnapshot(snapshot.name), danger: true }))
        await run(texts.deleting, () => deleteSnapshot(app, projectPath, snapshot).then(silently));
    },
  };
  const take = (name: string, memory: boolean) =>
    run(takingOf(memory), async () => ({ success: await takeSnapshot(app, projectPath, name, memory) }));
  const taken = (): Outcome => ({ success: snapshotTexts.checkpointTaken });
  const takeCheckpoint = () => run(snapshotTexts.takingCheckpoint, () => app.api.post(`${projectPath}/checkpoints`).then(taken));
  const change = async (update: ProjectUpdate) => {
    changed.value = await app.api.put<Project>(projectPath, update);
    const open = app.project.peek();
    if (open?.project.peek()?.project_id === project.project_id) open.project.value = changed.value;
    await read();
  };
  return {
    now: changed.value ?? project,
    list: list.value,
    status: status.value,
    busy: busy.value,
    outcome: outcome.value,
    take,
    takeCheckpoint,
    change,
    actions,
  };
}

/** Reads the list again when the memory of a snapshot is complete, and after each checkpoint. */
function useChanges(read: () => void): void {
  const changes = useApp().project.value?.snapshotChanges.value;
  useEffect(read, [changes]);
}

const takingOf = (memory: boolean) => (memory ? snapshotTexts.freezing : snapshotTexts.savingSnapshot);

export interface Outcome {
  readonly failure?: string;
  readonly success?: string;
  /** Projects that were made. */
  readonly projects?: readonly Project[];
}

/** Says nothing: the list shows the effect. */
const silently = (): Outcome => ({});

/** Runs one task at a time; `read` follows each. */
function useTask(read: () => Promise<void>) {
  const busy = useSignal('');
  const outcome = useSignal<Outcome>({});
  const failed = (error: Error) => {
    outcome.value = { failure: error.message };
  };
  const run = async (what: string, task: () => Promise<Outcome>): Promise<boolean> => {
    busy.value = what;
    outcome.value = {};
    try {
      outcome.value = await task();
      await read();
      return true;
    } catch (error) {
      failed(error as Error);
      return false;
    } finally {
      busy.value = '';
    }
  };
  return { busy, outcome, failed, run };
}
