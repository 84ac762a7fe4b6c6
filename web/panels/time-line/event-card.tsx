/** An event of the time line: what it was, a picture of then where there is one, and the ways back. */
import { useEffect } from 'preact/hooks';
import { captureFilePath, openDock } from '../../capture/capture-files.ts';
import type { ActivityStep } from '../../dialogs/activity.ts';
import { StepWords, UndoToHere } from '../../dialogs/activity-step.tsx';
import { LabPicture } from '../../dialogs/lab-plan-view.tsx';
import { MemoryFacts, type SnapshotActions } from '../../dialogs/snapshot-row.tsx';
import { snapshotTexts } from '../../dialogs/snapshot-texts.ts';
import { PlanGhosts } from '../../scene/plan-ghosts.tsx';
import { useApp, useProject } from '../../state/app.ts';
import { captureFileTab } from '../../state/console-dock.ts';
import { timeLineTexts } from '../../texts/time-line.ts';
import { texts } from '../../texts.ts';
import { Button } from '../../ui/button.tsx';
import { sizeText } from '../../ui/progress.tsx';
import '../../style/ghosts.css';
import type { CaptureEvent, LineEvent, SnapshotEvent } from './line-events.ts';
import { countsOf, planOnCanvas } from './outline-plan.ts';
import { type Outlines, useOutline } from './use-outline.ts';

export interface CardActions extends Pick<SnapshotActions, 'restore' | 'fork'> {
  readonly undoTo: (step: ActivityStep) => Promise<void>;
  readonly outlines: Outlines;
  /** The last step that can be undone: the present. */
  readonly last: ActivityStep | undefined;
  readonly isBusy: boolean;
}

export function EventCard({ event, actions }: { readonly event: LineEvent; readonly actions: CardActions }) {
  const { last, isBusy, undoTo } = actions;
  if (event.kind === 'snapshot') return <SnapshotCard event={event} actions={actions} />;
  if (event.kind === 'capture') return <CaptureCard event={event} />;
  const { step } = event;
  return (
    <>
      <StepWords one={step} />
      <UndoToHere one={step} isLast={step === last} isBusy={isBusy} undo={() => void undoTo(step)} />
    </>
  );
}

interface SnapshotCardProps {
  readonly event: SnapshotEvent;
  readonly actions: CardActions;
}

function SnapshotCard({ event: { snapshot }, actions: { outlines, isBusy, restore, fork } }: SnapshotCardProps) {
  const { tools } = useApp();
  const { plan, failure } = useOutline(snapshot, outlines);
  const { name, memory, checkpoint, created_at } = snapshot;
  const isDisabled = isBusy || memory?.status === 'saving';
  const isDrawn = plan !== undefined && plan.picture.nodes.length > 0;
  useEffect(() => {
    // The lab as text draws its own plan there.
    if (!plan || tools.sidePane.peek() === 'lab-text') return undefined;
    const ghosts = () => <PlanGhosts plan={planOnCanvas(plan)} />;
    tools.ghosts.value = ghosts;
    return () => {
      if (tools.ghosts.peek() === ghosts) tools.ghosts.value = undefined;
    };
  }, [plan, tools]);
  return (
    <>
      {isDrawn && <LabPicture picture={plan.picture} />}
      <span class="activity-what">
        <strong>{name}</strong>
        <small>
          {timeLineTexts.kinds[checkpoint ? 'checkpoint' : memory ? 'freeze' : 'snapshot']},{' '}
          <time dateTime={new Date(created_at * 1000).toISOString()}>{new Date(created_at * 1000).toLocaleString()}</time>
        </small>
        {memory && <MemoryFacts memory={memory} />}
        <span class="activity-detail">{failure || (plan ? timeLineTexts.differs(countsOf(plan)) : timeLineTexts.looking)}</span>
      </span>
      <div class="card-buttons">
        <Button icon="undo" disabled={isDisabled} onClick={() => void restore(snapshot)}>
          {memory ? snapshotTexts.rewindHere : snapshotTexts.restore}
        </Button>
        {memory && (
          <Button icon="split" title={snapshotTexts.forkHint} disabled={isDisabled} onClick={() => void fork(snapshot, 1)}>
            {snapshotTexts.forkHere}
          </Button>
        )}
      </div>
    </>
  );
}

function CaptureCard({ event: { file, atMs, endMs } }: { readonly event: CaptureEvent }) {
  const app = useApp();
  const project = useProject();
  const { name, size, capturing } = file;
  const end = capturing ? timeLineTexts.running : timeLineTexts.moment(endMs);
  return (
    <>
      <span class="activity-what">
        <strong>{name}</strong>
        <small>
          {timeLineTexts.span(timeLineTexts.moment(atMs), end)}
          {size !== null && ` · ${sizeText(size)}`}
        </small>
      </span>
      <div class="card-buttons">
        <Button icon="packets" onClick={() => openDock(app, captureFileTab(name))}>
          {texts.open}
        </Button>
        <a class="button quiet" href={captureFilePath(project, name)} download={name} aria-label={texts.downloadNamed(name)}>
          {texts.download}
        </a>
      </div>
    </>
  );
}
