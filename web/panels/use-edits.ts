/** Edits of an object's members that are not sent yet. Changes of other users to the same lists are kept. */
import { useSignal } from '@preact/signals';
import { rebased } from './rebase.ts';

interface Edit {
  /** Value when the edit began. */
  readonly base: unknown;
  readonly value: unknown;
}

interface Edits {
  /** The edited members alone. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly set: (key: string, value: unknown) => void;
  readonly clear: () => void;
}

/** `now`: the object as the server has it. */
export function useEdits(now: Readonly<Record<string, unknown>>): Edits {
  const edits = useSignal<Readonly<Record<string, Edit>>>({});
  return {
    values: Object.fromEntries(Object.entries(edits.value).map(([key, { base, value }]) => [key, rebased(base, value, now[key])])),
    set: (key, value) => {
      edits.value = { ...edits.peek(), [key]: { base: now[key], value } };
    },
    clear: () => {
      edits.value = {};
    },
  };
}
