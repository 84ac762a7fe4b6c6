/** The mark whose card is shown: that under the pointer, that with the focus, or one that was clicked. */
import { type Signal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';

interface ShownMark {
  /** Key of an event of the mark. */
  readonly key: string;
  /** Key of the event of a group that is shown alone. */
  readonly event?: string | undefined;
  /** The card stays when the pointer leaves. */
  readonly isPinned: boolean;
}

/** The pointer may pass over a gap on its way to the card. Milliseconds. */
const graceMs = 250;
const ofCard = '.mark-card :is(button, a)';

export class OpenMark {
  readonly shown: Signal<ShownMark | undefined> = signal(undefined);
  /** Element of the whole time line. */
  area: HTMLElement | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Shows the card of a mark, unless another one is pinned. */
  preview(key: string): void {
    this.stay();
    if (!this.shown.peek()?.isPinned) this.shown.value = { key, isPinned: false };
  }

  /** Shows the card until it is closed. */
  pin(key: string, event?: string): void {
    this.stay();
    this.shown.value = { key, event, isPinned: true };
  }

  close(): void {
    this.stay();
    this.shown.value = undefined;
  }

  /** The pointer is over the card. */
  stay(): void {
    clearTimeout(this.#timer);
  }

  /** The pointer has left the mark or its card. */
  leave(): void {
    this.stay();
    this.#timer = setTimeout(() => {
      const hasFocus = this.area?.querySelector('.mark:focus-visible, .mark-card :focus');
      if (!this.shown.peek()?.isPinned && !hasFocus) this.close();
    }, graceMs);
  }

  /** The focus moves to another element; to none when its button disappears. */
  onFocusOut({ relatedTarget }: FocusEvent): void {
    if (relatedTarget || !this.shown.peek()?.isPinned) this.onPress({ target: relatedTarget });
  }

  /** A press anywhere in the page. A question about an action of the card is above the line. */
  onPress({ target }: { readonly target: EventTarget | null }): void {
    if (!this.#has(target) && !(target instanceof Element && target.closest('dialog'))) this.close();
  }

  /** Focuses a mark once it is drawn; the event may be in another group by then. */
  focusMark(key: string): void {
    requestAnimationFrame(() => {
      const all = [...(this.area?.querySelectorAll<HTMLElement>('.mark') ?? [])];
      (all.find(({ dataset }) => dataset.mark === key) ?? all.find(({ tabIndex }) => tabIndex === 0))?.focus();
    });
  }

  focusCard(): void {
    requestAnimationFrame(() => this.area?.querySelector<HTMLElement>(ofCard)?.focus());
  }

  #has(target: EventTarget | null): boolean {
    return target instanceof Node && this.area?.contains(target) === true;
  }
}

export function useOpenMark(): OpenMark {
  const open = useMemo(() => new OpenMark(), []);
  useEffect(() => {
    const onPress = (event: Event) => open.onPress(event);
    addEventListener('pointerdown', onPress, true);
    return () => {
      open.stay();
      removeEventListener('pointerdown', onPress, true);
    };
  }, [open]);
  return open;
}
