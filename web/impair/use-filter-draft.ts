/** The filters of a link during an edit: shown immediately, sent after a short pause. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Link } from '../../src/schema/link.ts';
import { useApp, useProject } from '../state/app.ts';
import { type FilterObject, withoutAliases } from './form.ts';

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
  const draft = useSignal<FilterObject | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  const waiting = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const isSending = useRef(false);
  const send = async (): Promise<void> => {
    const sent = draft.peek();
    waiting.current = undefined;
    // Requests are sent one at a time, so that the last change arrives last.
    if (!sent || isSending.current) return;
    isSending.current = true;
    try {
      const answer = await api.put<Link>(`${project.path}/links/${link.link_id}`, { filters: sent });
      failure.value = undefined;
      // The notification may arrive after the response.
      if (draft.peek() === sent) {
        project.links.put(answer);
        draft.value = undefined;
      }
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
  return {
    filters: draft.value ?? withoutAliases(link.filters),
    failure: failure.value,
    set(filters) {
      draft.value = filters;
      clearTimeout(waiting.current);
      waiting.current = setTimeout(() => void latest.current(), quietMs);
    },
  };
}
