/** The snapshots of a project on a timeline: take, freeze, restore or rewind, fork, delete; and the schedule of checkpoints. */
import { useSignal } from '@preact/signals';
import type { Project } from '../../src/schema/project.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { CheckpointSettings } from './checkpoint-settings.tsx';
import { unusedName } from './snapshot-requests.ts';
import { SnapshotResult } from './snapshot-result.tsx';
import { SnapshotRow } from './snapshot-row.tsx';
import { snapshotTexts } from './snapshot-texts.ts';
import { useSnapshots } from './use-snapshots.ts';
import '../style/timeline.css';

interface SnapshotsDialogProps {
  readonly project: Project;
  readonly close: () => void;
}

export function SnapshotsDialog({ project, close }: SnapshotsDialogProps) {
  const { now, list, status, busy, outcome, take, takeCheckpoint, change, actions } = useSnapshots(project, close);
  const name = useSignal('');
  const isReady = busy === '';
  // The server refuses another freeze meanwhile (`freeze_busy`).
  const canFreeze = isReady && list.every(({ memory }) => memory?.status !== 'saving');
  const usual = unusedName(list.map((snapshot) => snapshot.name));
  const make = async (memory: boolean) => {
    if (isReady && (await take(name.value.trim() || usual, memory))) name.value = '';
  };
  const newestFirst = list.toReversed();
  const sizes = new Map(status?.sizes.map(({ snapshot_id, bytes }) => [snapshot_id, bytes]));
  return (
    <Dialog title={snapshotTexts.snapshotsOf(project.name ?? '')} close={close} wide onSubmit={() => make(false)}>
      <p>{snapshotTexts.about}</p>
      <div class="row">
        <TextField
          label={snapshotTexts.snapshotName}
          value={name.value}
          placeholder={usual}
          onInput={(value) => (name.value = value)}
          focused
        />
        <Button kind="primary" submit disabled={!isReady}>
          {snapshotTexts.takeSnapshot}
        </Button>
        <Button title={snapshotTexts.freezeHint} onClick={() => void make(true)} disabled={!canFreeze}>
          {snapshotTexts.freeze}
        </Button>
      </div>
      <CheckpointSettings
        project={now}
        status={status}
        count={list.filter(({ checkpoint }) => checkpoint).length}
        isBusy={busy !== ''}
        change={change}
        take={() => void takeCheckpoint()}
      />
      <SnapshotResult outcome={outcome} close={close} />
      {busy && <p class="empty">{busy}</p>}
      {!busy && newestFirst.length === 0 && <p class="empty">{snapshotTexts.noSnapshots}</p>}
      <ol class="plain-list timeline" aria-label={snapshotTexts.timeline} reversed>
        {newestFirst.map((snapshot) => (
          <SnapshotRow
            key={snapshot.snapshot_id}
            snapshot={snapshot}
            bytes={sizes.get(snapshot.snapshot_id)}
            isBusy={busy !== ''}
            actions={actions}
          />
        ))}
      </ol>
    </Dialog>
  );
}
