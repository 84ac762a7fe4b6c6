/** What is typed into a field stands there until it is taken over: news from the server that come meanwhile do not undo it. */
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
