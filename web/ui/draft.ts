/** Keeps the text of a field until the server has accepted it: neither updates nor a refusal overwrite it. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';

interface Target {
  readonly currentTarget: { value: string };
}

export interface Draft {
  readonly value: string;
  readonly onInput: (event: Target) => void;
  readonly onBlur: () => void;
}

/** A draft that is sent from its field, and why the server refused it. */
export interface SentDraft {
  readonly draft: Draft;
  readonly refusal: string;
  /** Follows a request: a promise that is rejected is a refusal, anything else is accepted. */
  readonly follow: (outcome: unknown) => void;
}

export function useDraft(value: string): Draft {
  return useSentDraft(value).draft;
}

export function useSentDraft(value: string): SentDraft {
  const typed = useSignal<string | undefined>(undefined);
  const { refusal, follow } = useRefusal();
  const isSending = useRef(false);
  const hasLeft = useRef(false);
  const draft = {
    value: typed.value ?? value,
    onInput: ({ currentTarget }: Target) => {
      hasLeft.current = false;
      typed.value = currentTarget.value;
    },
    onBlur: () => {
      hasLeft.current = true;
      if (!isSending.current && refusal === '') typed.value = undefined;
    },
  };
  return {
    draft,
    refusal,
    follow: (outcome) => {
      if (!(outcome instanceof Promise)) return follow(undefined);
      const sent = typed.peek();
      isSending.current = true;
      const accepted = () => {
        if (hasLeft.current && typed.peek() === sent) typed.value = undefined;
      };
      const ended = () => {
        isSending.current = false;
      };
      follow(outcome);
      outcome.then(accepted, () => undefined).finally(ended);
    },
  };
}

/** Why the server refused a value; empty while it did not. */
export function useRefusal(): { readonly refusal: string; readonly follow: (outcome: unknown) => void } {
  const refusal = useSignal('');
  const latest = useRef<unknown>(undefined);
  return {
    refusal: refusal.value,
    follow: (outcome) => {
      latest.current = outcome;
      refusal.value = '';
      if (!(outcome instanceof Promise)) return;
      outcome.catch((error: Error) => {
        if (latest.current === outcome) refusal.value = error.message;
      });
    },
  };
}
