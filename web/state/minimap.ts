/** Whether the minimap is shown in large projects. Stored in the browser. */
import { effect, type Signal, signal } from '@preact/signals';

const key = 'patchbay.minimap';

export function createMinimap(): Signal<boolean> {
  const isShown = signal(localStorage.getItem(key) !== 'off');
  effect(() => localStorage.setItem(key, isShown.value ? 'on' : 'off'));
  return isShown;
}
