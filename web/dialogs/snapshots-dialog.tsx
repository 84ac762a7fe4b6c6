/** The snapshots of a project: create, restore, delete. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Project } from '../../src/schema/project.ts';
import { useApp } from '../state/app.ts';
import { texts } from '../texts.ts';
import { ask } from '../ui/ask.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';

interface Snapshot {
  readonly snapshot_id: string;
  readonly name: string;
  /** Seconds since 1970. */
  readonly created_at: number;
}

export function SnapshotsDialog({ project, close }: { readonly project: Project; readonly close: () => void }) {
  const app = useApp();
  const list = useSignal<readonly Snapshot[]>([]);
  const name = useSignal('');
  const busy = useSignal('');
  const failure = useSignal('');
  const path = `/v2/projects/${project.project_id}/snapshots`;
  const run = async (what: string, task: () => Promise<unknown>) => {
    busy.value = what;
    failure.value = '';
    try {
      await task();
      list.value = await app.api.get<Snapshot[]>(path);
    } catch (error) {
      failure.value = (error as Error).message;
    } finally {
      busy.value = '';
    }
  };
  useEffect(() => {
    const read = async () => {
      list.value = await app.api.get<Snapshot[]>(path);
    };
    read().catch((error: Error) => {
      failure.value = error.message;
    });
  }, []);
  const make = () =>
    name.value.trim() !== '' &&
    run(texts.savingSnapshot, async () => {
      await app.api.post(path, { name: name.value.trim() });
      name.value = '';
    });
  const restore = async (snapshot: Snapshot) => {
    if (!(await ask(app, texts.askRestore(snapshot.name)))) return;
    await run(texts.restoring, () => app.api.post(`${path}/${snapshot.snapshot_id}/restore`));
    if (failure.value === '') close();
  };
  const remove = async (snapshot: Snapshot) => {
    if (await ask(app, { ...texts.askDeleteSnapshot(snapshot.name), danger: true }))
      await run(texts.deleting, () => app.api.delete(`${path}/${snapshot.snapshot_id}`));
  };
  const newestFirst = list.value.toSorted((one, other) => other.created_at - one.created_at);
  return (
    <Dialog title={texts.snapshotsOf(project.name ?? '')} close={close} onSubmit={make}>
      <div class="row">
        <TextField label={texts.snapshotName} value={name.value} onInput={(value) => (name.value = value)} focused />
        <Button kind="primary" submit disabled={busy.value !== '' || name.value.trim() === ''}>
          {texts.takeSnapshot}
        </Button>
      </div>
      {failure.value && (
        <p class="failure" role="alert">
          {failure.value}
        </p>
      )}
      {busy.value && <p class="empty">{busy.value}</p>}
      {!busy.value && newestFirst.length === 0 && <p class="empty">{texts.noSnapshots}</p>}
      <ul class="plain-list">
        {newestFirst.map((snapshot) => (
          <li key={snapshot.snapshot_id}>
            <span>
              <strong>{snapshot.name}</strong>
              <small>{new Date(snapshot.created_at * 1000).toLocaleString()}</small>
            </span>
            <Button onClick={() => restore(snapshot)} disabled={busy.value !== ''}>
              {texts.restore}
            </Button>
            <Button icon="trash" kind="quiet" label={texts.deleteNamed(snapshot.name)} onClick={() => remove(snapshot)} />
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
