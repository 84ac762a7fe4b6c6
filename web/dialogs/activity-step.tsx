/** A step of the history: its words and details, its author, and the way back to it. */
import './activity.css';
import { Button } from '../ui/button.tsx';
import type { ActivityStep } from './activity.ts';
import { activityTexts } from './activity-texts.ts';

export function StepWords({ one: { at, by, words, details } }: { readonly one: ActivityStep }) {
  return (
    <span class="activity-what">
      <strong>{words}</strong>
      {details.map((line) => (
        <span key={line} class="activity-detail">
          {line}
        </span>
      ))}
      <small>
        <time dateTime={at}>{new Date(at).toLocaleString()}</time> {activityTexts.by(by)}
      </small>
    </span>
  );
}

interface UndoToHereProps {
  readonly one: ActivityStep;
  /** Nothing is to undo after it. */
  readonly isLast: boolean;
  readonly isBusy: boolean;
  readonly undo: () => void;
}

export function UndoToHere({ one: { words, isGone, isUndoable }, isLast, isBusy, undo }: UndoToHereProps) {
  if (isLast) return <small class="chip">{activityTexts.now}</small>;
  if (isGone) return <small class="chip">{activityTexts.undone}</small>;
  if (!isUndoable) return null;
  return (
    <Button kind="quiet" icon="undo" disabled={isBusy} label={activityTexts.undoToHereOf(words)} onClick={undo}>
      {activityTexts.undoToHere}
    </Button>
  );
}
