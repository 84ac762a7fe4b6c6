/** Keeps the text of a field until it is applied: updates from the server do not overwrite it. */
import { useSignal } from '@preact/signals';

interface Target {
  readonly currentTarget: { value: string };
}

export interface Draft {
  readonly value: string;
  readonly onInput: (event: Target) => void;
  readonly onBlur: () => void;
}

export function useDraft(value: string): Draft {
  const typed = useSignal<string | undefined>(undefined);
  return {
    value: typed.value ?? value,
    onInput: ({ currentTarget }) => {
      typed.value = currentTarget.value;
    },
    onBlur: () => {
      typed.value = undefined;
    },
  };
}
