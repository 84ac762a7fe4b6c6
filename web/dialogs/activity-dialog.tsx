/** History of the project: the author of each change, and going back to any of these states. */
import { useApp } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import type { ActivityStep } from './activity.ts';
import { StepWords, UndoToHere } from './activity-step.tsx';
import { activityTexts } from './activity-texts.ts';
import { useActivity } from './use-activity.ts';

/** Entries of one request. */
const pageEntries = 200;

export function ActivityDialog({ project, close }: { readonly project: ProjectState; readonly close: () => void }) {
  const app = useApp();
  const { steps, hasMore, isBusy, more, undoTo } = useActivity(project, pageEntries);
  const last = steps?.find(({ isUndoable }) => isUndoable);
  return (
    <Dialog title={activityTexts.title} close={close} wide>
      {!steps && <p class="empty">{texts.loading}</p>}
      {steps?.length === 0 && <p class="empty">{activityTexts.empty}</p>}
      <ol class="activity">
        {steps?.map((one) => (
          <Step key={one.seq} one={one} isLast={one === last} isBusy={isBusy} undo={() => undoTo(one)} />
        ))}
      </ol>
      {hasMore && <Button onClick={() => app.toasts.attempt(more)}>{activityTexts.more}</Button>}
    </Dialog>
  );
}

interface StepProps {
  readonly one: ActivityStep;
  /** Nothing is to undo after it. */
  readonly isLast: boolean;
  readonly isBusy: boolean;
  readonly undo: () => void;
}

function Step({ one, ...rest }: StepProps) {
  return (
    <li class={one.isGone || one.isRevert ? 'activity-step undone' : 'activity-step'}>
      <StepWords one={one} />
      <UndoToHere one={one} {...rest} />
    </li>
  );
}
