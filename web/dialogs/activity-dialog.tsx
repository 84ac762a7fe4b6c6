/** History of the project: the author of each change, and going back to any of these states. */
import './activity.css';
import { useComputed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { History } from '../../src/schema/history.ts';
import { type App, useApp } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';
import { texts } from '../texts.ts';
import { ask } from '../ui/ask.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { type ActivityStep, activitySteps } from './activity.ts';
import { activityTexts } from './activity-texts.ts';

type Loaded = Pick<History, 'entries' | 'undoable'>;

/** Entries of one request. */
const pageEntries = 200;

export function ActivityDialog({ project, close }: { readonly project: ProjectState; readonly close: () => void }) {
  const app = useApp();
  const loaded = useSignal<Loaded | undefined>(undefined);
  const hasMore = useSignal(false);
  const isBusy = useSignal(false);
  const read = async (known?: Loaded) => {
    const before = known?.entries.at(-1)?.seq;
    const query = `limit=${pageEntries}${before === undefined ? '' : `&before=${before}`}`;
    const { entries, undoable } = await app.api.get<History>(`${project.path}/history?${query}`);
    hasMore.value = entries.length === pageEntries;
    loaded.value = {
      entries: [...(known?.entries ?? []), ...entries],
      undoable: [...new Set([...(known?.undoable ?? []), ...undoable])],
    };
  };
  useEffect(() => void app.toasts.attempt(() => read()), []);
  const nameOf = (id: string) => {
    const ends = project.links.peek(id)?.nodes.map(({ node_id }) => project.nodes.peek(node_id)?.name ?? '') ?? [];
    return ends.join(' – ');
  };
  const steps = useComputed(() => (loaded.value ? activitySteps(loaded.value, nameOf) : undefined));
  const undoTo = async ({ step }: ActivityStep) => {
    const later = (steps.peek() ?? []).filter((one) => one.isUndoable && (one.step ?? 0) > (step ?? 0));
    const last = later[0]?.step ?? undefined;
    const running = new Set(later.flatMap(({ made }) => [...made].filter((id) => isRunning(app, project, id)))).size;
    if (running > 0 && !(await ask(app, activityTexts.ask(later.length, running)))) return;
    isBusy.value = true;
    const undo = (body: object) => app.api.post(`${project.path}/undo`, body);
    const undoAll = async () => {
      if (!later.some(({ isRewind }) => isRewind)) return undo({ until: step, step: last });
      for (const one of later) await undo({ step: one.step });
    };
    await app.toasts.attempt(() => project.steps.run(undoAll));
    await app.toasts.attempt(() => read());
    isBusy.value = false;
  };
  const last = steps.value?.find(({ isUndoable }) => isUndoable);
  return (
    <Dialog title={activityTexts.title} close={close} wide>
      {!steps.value && <p class="empty">{texts.loading}</p>}
      {steps.value?.length === 0 && <p class="empty">{activityTexts.empty}</p>}
      <ol class="activity">
        {steps.value?.map((one) => (
          <Step key={one.seq} one={one} isLast={one === last} isBusy={isBusy.value} undo={() => undoTo(one)} />
        ))}
      </ol>
      {hasMore.value && <Button onClick={() => app.toasts.attempt(() => read(loaded.peek()))}>{activityTexts.more}</Button>}
    </Dialog>
  );
}

/** Whether a node has memory that its deletion loses. */
function isRunning({ server }: App, project: ProjectState, nodeId: string): boolean {
  const node = project.nodes.peek(nodeId);
  return node !== undefined && node.status !== 'stopped' && !server.kinds.peek().get(node.node_type)?.always_running;
}

interface StepProps {
  readonly one: ActivityStep;
  /** Nothing is to undo after it. */
  readonly isLast: boolean;
  readonly isBusy: boolean;
  readonly undo: () => void;
}

function Step({ one: { at, by, words, details, isRevert, isUndoable, step }, isLast, isBusy, undo }: StepProps) {
  const isGone = step !== null && !isUndoable && !isRevert;
  return (
    <li class={isGone || isRevert ? 'activity-step undone' : 'activity-step'}>
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
      {isLast && <small class="chip">{activityTexts.now}</small>}
      {isGone && <small class="chip">{activityTexts.undone}</small>}
      {isUndoable && !isLast && (
        <Button kind="quiet" icon="undo" disabled={isBusy} label={activityTexts.undoToHereOf(words)} onClick={undo}>
          {activityTexts.undoToHere}
        </Button>
      )}
    </li>
  );
}
