/** Copied items as text, shared by all windows of this server in a browser, and with the system's clipboard if it allows it. */
import { signal } from '@preact/signals';

const key = 'patchbay.clipboard';

export class Clipboard {
  readonly text = signal(localStorage.getItem(key) ?? '');

  constructor() {
    addEventListener('storage', (event) => {
      if (event.key === key) this.text.value = event.newValue ?? '';
    });
  }

  put(text: string): void {
    this.text.value = text;
    try {
      localStorage.setItem(key, text);
    } catch {
      // Too large for the storage: other windows get it through the system's clipboard.
      localStorage.removeItem(key);
    }
  }
}
