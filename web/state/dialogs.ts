/** The stack of open dialogs. Each is a function that renders it. */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

export interface OpenDialog {
  readonly id: number;
  readonly draw: (close: () => void) => ComponentChildren;
}

export class Dialogs {
  readonly open = signal<readonly OpenDialog[]>([]);
  #last = 0;

  show(draw: OpenDialog['draw']): void {
    this.#last += 1;
    this.open.value = [...this.open.peek(), { id: this.#last, draw }];
  }

  close(id: number): void {
    this.open.value = this.open.peek().filter((dialog) => dialog.id !== id);
  }

  get isAny(): boolean {
    return this.open.peek().length > 0;
  }
}
