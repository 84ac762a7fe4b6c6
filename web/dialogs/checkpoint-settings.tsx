/** The schedule of a project's checkpoints, applied immediately, and how it stands. */
import type { CheckpointStatus } from '../../src/schema/checkpoint.ts';
import type { Project, ProjectUpdate } from '../../src/schema/project.ts';
import { Button } from '../ui/button.tsx';
import { NumberField, SwitchField } from '../ui/field.tsx';
import { sizeText } from '../ui/progress.tsx';
import { snapshotTexts } from './snapshot-texts.ts';

interface CheckpointSettingsProps {
  readonly project: Project;
  readonly status: CheckpointStatus | undefined;
  /** Number of checkpoints in the list. */
  readonly count: number;
  readonly isBusy: boolean;
  readonly change: (update: ProjectUpdate) => unknown;
  readonly take: () => void;
}

const usualMinutes = 10;
const gibibyte = 2 ** 30;
const timeText = (seconds: number) => new Date(seconds * 1000).toLocaleTimeString();

export function CheckpointSettings({ project, status, count, isBusy, change, take }: CheckpointSettingsProps) {
  const { checkpoint_minutes: minutes = 0, checkpoint_bytes: bytes = 0 } = project;
  return (
    <fieldset class="checkpoints">
      <legend>{snapshotTexts.checkpoints}</legend>
      <SwitchField
        {...snapshotTexts.checkpointSwitch}
        value={minutes > 0}
        onChange={(on) => change({ checkpoint_minutes: on ? usualMinutes : 0 })}
      />
      {minutes > 0 && (
        <div class="row">
          <NumberField
            label={snapshotTexts.everyMinutes}
            unit="min"
            minimum={1}
            maximum={10_080}
            value={minutes}
            onChange={(value) => change({ checkpoint_minutes: value })}
          />
          <NumberField
            label={snapshotTexts.mostGibibytes}
            unit="GiB"
            minimum={1}
            maximum={1_000_000}
            value={Math.round((bytes / gibibyte) * 100) / 100}
            onChange={(value) => change({ checkpoint_bytes: value * gibibyte })}
          />
          <Button onClick={take} disabled={isBusy}>
            {snapshotTexts.checkpointNow}
          </Button>
        </div>
      )}
      {status && (minutes > 0 || count > 0) && <p class="state">{stateText(status, count)}</p>}
      {status?.skipped && (
        <p class="state">{snapshotTexts.skippedCheckpoint(timeText(status.skipped.at), status.skipped.reason)}</p>
      )}
    </fieldset>
  );
}

function stateText({ bytes, next_at }: CheckpointStatus, count: number): string {
  const taken = snapshotTexts.checkpointsTake(count, sizeText(bytes));
  return next_at === null ? taken : `${taken} · ${snapshotTexts.nextCheckpoint(timeText(next_at))}`;
}
