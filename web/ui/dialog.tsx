/** A native dialog: it keeps the focus inside and closes with Escape. */
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { texts } from '../texts.ts';
import { Button } from './button.tsx';
import { keepFocus } from './focus.ts';

interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  readonly wide?: boolean;
  /** Turns it into a form that Enter submits. */
  readonly onSubmit?: () => void;
  /** A long text: the keys that scroll work at once. */
  readonly scrolls?: boolean;
  readonly footer?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Skips the close button, although it comes first. */
const firstControl = '.dialog-body :is(input, select, textarea), footer [type=submit]:not(:disabled)';

/**
 * The browser reports that it closed a dialog in a later task: keys pressed until then would meet a page that takes it for open. So
 * the dialog closes on the request, in the task of the key. A file field inside sends `cancel`, too.
 */
export const closeHandlers = (close: () => void) => ({
  onCancel: ({ target, currentTarget }: Event) => {
    if (target === currentTarget) close();
  },
  onClose: close,
});

export function Dialog({ title, close, wide, scrolls, onSubmit, footer, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useLayoutEffect(() => {
    const restoreFocus = keepFocus();
    element.current?.showModal();
    element.current?.querySelector<HTMLElement>('[data-focus]')?.focus();
    if (document.activeElement?.closest('header')) element.current?.querySelector<HTMLElement>(firstControl)?.focus();
    return restoreFocus;
  }, []);
  return (
    <dialog ref={element} class={wide ? 'dialog wide' : 'dialog'} aria-labelledby={titleId} {...closeHandlers(close)}>
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit?.();
        }}
      >
        <header>
          <h2 id={titleId}>{title}</h2>
          <Button icon="close" kind="quiet" label={texts.close} onClick={close} />
        </header>
        <div class="dialog-body" {...(scrolls && { tabIndex: 0, role: 'region', 'aria-labelledby': titleId, 'data-focus': true })}>
          {children}
        </div>
        {footer && <footer>{footer}</footer>}
      </form>
    </dialog>
  );
}
