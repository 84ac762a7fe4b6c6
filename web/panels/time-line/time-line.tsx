/** The time line at the foot of the canvas: changes, snapshots and captures of the open project on one axis, with the ways back. */
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Project } from '../../../src/schema/project.ts';
import { ActionButton } from '../../actions/action-button.tsx';
import { getAction } from '../../actions/actions.ts';
import { SnapshotResult } from '../../dialogs/snapshot-result.tsx';
import { useSnapshots } from '../../dialogs/use-snapshots.ts';
import { useProject } from '../../state/app.ts';
import type { ProjectState } from '../../state/project.ts';
import { timeLineTexts } from '../../texts/time-line.ts';
import { texts } from '../../texts.ts';
import { Button } from '../../ui/button.tsx';
import type { CardActions } from './event-card.tsx';
import { LineAxis } from './line-axis.tsx';
import { wholeView, zoomed } from './line-layout.ts';
import { MarkCard } from './mark-card.tsx';
import { useLineEvents } from './use-line-events.ts';
import { useOpenMark } from './use-open-mark.ts';
import type { Outlines } from './use-outline.ts';
import '../../dialogs/lab.css';
import './time-line.css';

export function TimeLine() {
  const project = useProject();
  const opened = project.project.value;
  return opened ? <Line project={project} opened={opened} /> : null;
}

interface LineProps {
  readonly project: ProjectState;
  readonly opened: Project;
}

function Line({ project, opened }: LineProps) {
  const view = useSignal(wholeView);
  const widthPx = useSignal(0);
  const open = useOpenMark();
  const dismissed = useSignal<object | undefined>(undefined);
  const { list, busy, outcome, actions } = useSnapshots(opened, () => open.close());
  const { activity, layout } = useLineEvents(project, list);
  const outlines = useMemo((): Outlines => new Map(), []);
  const marks = useMemo(() => layout.marks(view.value, widthPx.value), [layout, view.value, widthPx.value]);
  const key = open.shown.value?.key;
  const mark = marks.find(({ events }) => events.some((one) => one.key === key));
  const last = activity.steps?.find(({ isUndoable }) => isUndoable);
  const cardActions: CardActions = {
    ...{ outlines, last, restore: actions.restore, isBusy: activity.isBusy || busy !== '' },
    fork: async (snapshot, count) => {
      open.close();
      await actions.fork(snapshot, count);
    },
    undoTo: async (step) => {
      open.close();
      await activity.undoTo(step);
    },
  };
  const isNoted = busy !== '' || (outcome !== dismissed.value && Boolean(outcome.failure ?? outcome.success));
  const isZoomed = view.value.to - view.value.from < 1;
  return (
    <section
      ref={(element) => {
        open.area = element;
      }}
      class="time-line"
      aria-label={timeLineTexts.name}
      onFocusOut={(event) => open.onFocusOut(event)}
    >
      <div class="time-line-tools">
        <ActionButton action={getAction('freeze')} withLabel />
        {isZoomed && (
          <>
            <Button
              icon="minus"
              kind="quiet"
              label={timeLineTexts.zoomOut}
              onClick={() => (view.value = zoomed(view.value, 1 / 3, 0.5))}
            />
            <Button icon="fit" kind="quiet" label={timeLineTexts.whole} onClick={() => (view.value = wholeView)} />
          </>
        )}
      </div>
      <LineAxis {...{ layout, marks, view, widthPx, open }} isRead={activity.steps !== undefined} />
      {mark && <MarkCard {...{ mark, layout, view, open }} widthPx={widthPx.value} actions={cardActions} />}
      {isNoted && (
        <div class="time-line-note">
          {busy ? <p role="status">{busy}</p> : <SnapshotResult outcome={outcome} close={() => (dismissed.value = outcome)} />}
          {!busy && <Button icon="close" kind="quiet" label={texts.dismiss} onClick={() => (dismissed.value = outcome)} />}
        </div>
      )}
    </section>
  );
}
