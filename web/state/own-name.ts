/** The name by which other users of a project see this one. Stored in the browser. */
import { effect, type Signal, signal } from '@preact/signals';

const key = 'patchbay.ownName';

export function createOwnName(): Signal<string> {
  const ownName = signal(localStorage.getItem(key) ?? '');
  effect(() => localStorage.setItem(key, ownName.value));
  return ownName;
}
