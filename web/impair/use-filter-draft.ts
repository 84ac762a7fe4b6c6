/** The filters of a link during an edit: shown immediately, sent after a short pause. Only those that changed are sent. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Link } from '../../src/schema/link.ts';
import { useApp, useProject } from '../state/app.ts';
import { changesBetween, type FilterChanges, type FilterObject, withChanges, withoutAliases } from './form.ts';

/** Long enough for the next digit, short enough to feel immediate. */
const quietMs = 300;

export interface FilterDraft {
  readonly filters: FilterObject;
  /** Why the server refused them. */
  readonly failure: string | undefined;
  set(filters: FilterObject): void;
}

export function useFilterDraft(link: Link): FilterDraft {
  const { api } = useApp();
  const project = useProject();
  const draft = useSignal<FilterChanges>({});
  const failure = useSignal<string | undefined>(undefined);
  const waiting = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const isSending = useRef(false);
  const send = async (): Promise<void> => {
    const sent = draft.peek();
    waiting.current = undefined;
    // Requests are sent one at a time, so that the last change arrives last.
    if (Object.keys(sent).length === 0 || isSending.current) return;
    isSending.current = true;
    try {
      const filters = { ...aliasesOf(sent, link), ...sent };
      const answer = await api.patch<Link>(`${project.path}/links/${link.link_id}`, { filters });
      failure.value = undefined;
      // The notification may arrive after the response.
      project.links.put(answer);
      draft.value = Object.fromEntries(Object.entries(draft.peek()).filter(([key, values]) => values !== sent[key]));
    } catch (error) {
      failure.value = (error as Error).message;
    }
    isSending.current = false;
    if (draft.peek() !== sent && waiting.current === undefined) await send();
  };
  const latest = useRef(send);
  latest.current = send;
  // The last edit is sent even when another link is selected.
  useEffect(
    () => () => {
      if (waiting.current === undefined) return;
      clearTimeout(waiting.current);
      void latest.current();
    },
    [],
  );
  const stored = withoutAliases(link.filters);
  const shown = withChanges(stored, draft.value);
  return {
    filters: shown,
    failure: failure.value,
    set(filters) {
      const now = withChanges(stored, draft.peek());
      draft.value = { ...draft.peek(), ...changesBetween(now, filters) };
      clearTimeout(waiting.current);
      waiting.current = setTimeout(() => void latest.current(), quietMs);
    },
  };
}

/** A delay replaces the `latency` that the link may have: both are shown as one. */
export function aliasesOf(changes: FilterChanges, link: Link): FilterChanges {
  const aliases = Object.keys(changes).map((key) => key.replace(/^delay(?=_|$)/, 'latency'));
  return Object.fromEntries(aliases.filter((key) => !(key in changes) && key in link.filters).map((key) => [key, null]));
}
