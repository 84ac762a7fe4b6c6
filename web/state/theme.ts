/** Light or dark: the system's setting, or the user's choice. Stored in the browser. */
import { effect, type Signal, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';
const key = 'patchbay.theme';

export function createTheme(): Signal<Theme> {
  const kept = localStorage.getItem(key);
  const theme = signal<Theme>(kept === 'light' || kept === 'dark' ? kept : 'system');
  effect(() => {
    const { value } = theme;
    if (value === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = value;
    localStorage.setItem(key, value);
  });
  return theme;
}
