/** What was copied, as text: the same for all windows of this server in a browser, and for the system's clipboard where it takes it. */
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
      // Too large for it: other windows get it by the system's clipboard.
      localStorage.removeItem(key);
    }
  }
}
