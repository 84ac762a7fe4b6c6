/** Choice of how GNS3's classic symbols are drawn: flat, by the page, or as the server's classic pictures. Stored in the browser. */
import { effect, type Signal, signal } from '@preact/signals';

export type SymbolSet = 'flat' | 'classic';
const key = 'patchbay.symbols';

export function createSymbolSet(): Signal<SymbolSet> {
  const set = signal<SymbolSet>(localStorage.getItem(key) === 'classic' ? 'classic' : 'flat');
  effect(() => localStorage.setItem(key, set.value));
  return set;
}
