/** The history of a project, step by step, and going back to any of its states. */
import { useComputed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { History } from '../../src/schema/history.ts';
import { useApp } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';
import { ask } from '../ui/ask.tsx';
import { useReadings } from '../ui/readings.ts';
import { type ActivityStep, activitySteps, isRunning, joinHistory, type LoadedHistory } from './activity.ts';
import { activityTexts } from './activity-texts.ts';

/** Entries of a request for what is new. */
const newEntries = 100;

/** `entries`: of one request. */
export function useActivity(project: ProjectState, entries: number) {
  const app = useApp();
  const loaded = useSignal<LoadedHistory | undefined>(undefined);
  const hasMore = useSignal(false);
  const isBusy = useSignal(false);
  const begin = useReadings();
  const request = (limit: number, before?: number) =>
    app.api.get<History>(`${project.path}/history?limit=${limit}${before === undefined ? '' : `&before=${before}`}`);
  const read = async () => {
    const inOrder = begin();
    const answer = await request(entries);
    inOrder(() => {
      hasMore.value = answer.entries.length === entries;
      loaded.value = answer;
    });
  };
  const more = async () => {
    const known = loaded.peek();
    const answer = await request(entries, known?.entries.at(-1)?.seq);
    hasMore.value = answer.entries.length === entries;
    loaded.value = {
      entries: [...(known?.entries ?? []), ...answer.entries],
      undoable: [...new Set([...(known?.undoable ?? []), ...answer.undoable])],
    };
  };
  /** Reads what is new. */
  const refresh = async () => {
    const known = loaded.peek();
    if (!known) return read();
    const inOrder = begin();
    const joined = joinHistory(known, await request(newEntries));
    if (!joined) return read();
    inOrder(() => (loaded.value = joined));
  };
  useEffect(() => void app.toasts.attempt(read), []);
  const nameOf = (id: string) => {
    const ends = project.links.peek(id)?.nodes.map(({ node_id }) => project.nodes.peek(node_id)?.name ?? '') ?? [];
    return ends.join(' – ');
  };
  const steps = useComputed(() => (loaded.value ? activitySteps(loaded.value, nameOf) : undefined));
  const undoTo = async ({ step }: ActivityStep) => {
    // The order is undo's: steps of two users may have run side by side.
    const order = loaded.peek()?.undoable ?? [];
    const laterIds = order.slice(0, Math.max(0, order.indexOf(step ?? 0)));
    const later = (steps.peek() ?? []).filter((one) => laterIds.includes(one.step ?? 0));
    const running = new Set(later.flatMap(({ made }) => [...made].filter((id) => isRunning(app, project, id)))).size;
    if (running > 0 && !(await ask(app, activityTexts.ask(laterIds.length, running)))) return;
    isBusy.value = true;
    const undo = (body: object) => app.api.post(`${project.path}/undo`, body);
    const undoAll = async () => {
      if (!later.some(({ isRewind }) => isRewind)) return undo({ until: step, step: laterIds[0] });
      for (const id of laterIds) await undo({ step: id });
    };
    await app.toasts.attempt(() => project.steps.run(undoAll));
    await app.toasts.attempt(read);
    isBusy.value = false;
  };
  return { steps: steps.value, hasMore: hasMore.value, isBusy: isBusy.value, more, refresh, undoTo };
}
