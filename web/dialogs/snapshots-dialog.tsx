/** The snapshots of a project: take, freeze, restore or rewind, fork, delete. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Project } from '../../src/schema/project.ts';
import type { Snapshot } from '../../src/schema/snapshot.ts';
import { useApp } from '../state/app.ts';
import { texts } from '../texts.ts';
import { ask } from '../ui/ask.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Failure } from '../ui/failure.tsx';
import { TextField } from '../ui/field.tsx';
import { type SnapshotActions, SnapshotRow } from './snapshot-row.tsx';

interface SnapshotsDialogProps {
  readonly project: Project;
  readonly close: () => void;
}

export function SnapshotsDialog({ project, close }: SnapshotsDialogProps) {
  const { list, busy, outcome, take, actions } = useSnapshots(project, close);
  const name = useSignal('');
  const isReady = busy === '' && name.value.trim() !== '';
  const make = async (memory: boolean) => {
    if (isReady && (await take(name.value.trim(), memory))) name.value = '';
  };
  const newestFirst = list.toSorted((one, other) => other.created_at - one.created_at);
  return (
    <Dialog title={texts.snapshotsOf(project.name ?? '')} close={close} onSubmit={() => make(false)}>
      <div class="row">
        <TextField label={texts.snapshotName} value={name.value} onInput={(value) => (name.value = value)} focused />
        <Button kind="primary" submit disabled={!isReady}>
          {texts.takeSnapshot}
        </Button>
        <Button title={texts.freezeHint} onClick={() => void make(true)} disabled={!isReady}>
          {texts.freeze}
        </Button>
      </div>
      <Failure text={outcome.failure} />
      {outcome.success && <p role="status">{outcome.success}</p>}
      {busy && <p class="empty">{busy}</p>}
      {!busy && newestFirst.length === 0 && <p class="empty">{texts.noSnapshots}</p>}
      <ul class="plain-list">
        {newestFirst.map((snapshot) => (
          <SnapshotRow key={snapshot.snapshot_id} snapshot={snapshot} isBusy={busy !== ''} actions={actions} />
        ))}
      </ul>
    </Dialog>
  );
}

/** The list, what is being done with it, and how that ended. */
function useSnapshots(project: Project, close: () => void) {
  const app = useApp();
  const list = useSignal<readonly Snapshot[]>([]);
  const busy = useSignal('');
  const outcome = useSignal({ failure: '', success: '' });
  const path = `/v2/projects/${project.project_id}/snapshots`;
  const read = async () => {
    list.value = await app.api.get<Snapshot[]>(path);
  };
  const failed = (error: Error) => {
    outcome.value = { failure: error.message, success: '' };
  };
  const run = async (what: string, task: () => Promise<unknown>): Promise<boolean> => {
    busy.value = what;
    outcome.value = { failure: '', success: '' };
    try {
      const success = await task();
      if (typeof success === 'string') outcome.value = { failure: '', success };
      await read();
      return true;
    } catch (error) {
      failed(error as Error);
      return false;
    } finally {
      busy.value = '';
    }
  };
  // Also when the memory of one is complete.
  const changes = app.project.value?.snapshotChanges.value;
  useEffect(() => void read().catch(failed), [changes]);
  const actions: SnapshotActions = {
    async restore({ name, snapshot_id, memory }) {
      if (!(await ask(app, memory ? texts.askRewind(name) : texts.askRestore(name)))) return;
      if (await run(memory ? texts.rewinding : texts.restoring, () => app.api.post(`${path}/${snapshot_id}/restore`))) close();
    },
    async fork({ snapshot_id }, count) {
      await run(texts.forking, async () => {
        const forks = await app.api.post<Project[]>(`${path}/${snapshot_id}/fork`, { count });
        return texts.forked(forks.map(({ name }) => name).join(', '));
      });
    },
    async remove({ name, snapshot_id }) {
      if (await ask(app, { ...texts.askDeleteSnapshot(name), danger: true }))
        await run(texts.deleting, () => app.api.delete(`${path}/${snapshot_id}`));
    },
  };
  const take = (name: string, memory: boolean) =>
    run(memory ? texts.freezing : texts.savingSnapshot, () =>
      app.api.post(path, { name, ...(memory && { memory }) }).then(() => ''),
    );
  return { list: list.value, busy: busy.value, outcome: outcome.value, take, actions };
}
