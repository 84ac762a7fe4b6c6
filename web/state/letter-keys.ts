/** Whether keys without Ctrl, Command or Alt run commands: speech input and stray hands press them by mistake. Stored in the browser. */
import { effect, type Signal, signal } from '@preact/signals';

const key = 'patchbay.letterKeys';

/** Source: WCAG 2.1, success criterion 2.1.4 "Character Key Shortcuts". */
export function createLetterKeys(): Signal<boolean> {
  const letterKeys = signal(localStorage.getItem(key) !== 'off');
  effect(() => localStorage.setItem(key, letterKeys.value ? 'on' : 'off'));
  return letterKeys;
}
