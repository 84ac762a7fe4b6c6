/** The name by which other users of a project see this one. Stored in the browser. */
import { effect, type Signal, signal } from '@preact/signals';
import { presenceLimits } from '../../src/schema/presence-limits.ts';

const key = 'patchbay.ownName';

export function createOwnName(): Signal<string> {
  const ownName = signal(sendableName(localStorage.getItem(key) ?? ''));
  effect(() => localStorage.setItem(key, ownName.value));
  return ownName;
}

/** The server refuses control characters, halves of characters, and longer names; it ends the connection that sends one. */
export function sendableName(name: string): string {
  return name
    .slice(0, presenceLimits.nameLength)
    .replace(/[\p{Cc}\p{Cs}]/gu, ' ')
    .trim();
}
