/** Moves the focus when the focused element disappears. */

/** The regions of the page, in the order of the keys that cycle through them. */
const regions = [
  '.canvas',
  '.time-line .axis',
  '.side-pane',
  '.inspector',
  '.consoles .pane.current',
  '.palette',
  '.top-bar',
] as const;
const focusable = 'a[href], button:not(:disabled), input:not(:disabled), select, textarea, summary, [tabindex="0"]';

/** Inputs and lists get the focus before the tabs above them. */
const inConsole = '.console:not([hidden]) :is(textarea, [tabindex="0"], canvas)';

/** Remembers the focused element. The returned function restores the focus, unless another element has it by then. */
export function keepFocus(): () => void {
  const before = document.activeElement;
  return () => {
    // The element is still in the document when its effect ends.
    queueMicrotask(() => {
      if (document.activeElement !== document.body && document.activeElement?.isConnected) return;
      if (before instanceof HTMLElement && before !== document.body && before.isConnected) before.focus();
      else focusCanvas();
    });
  };
}

export function focusCanvas(): void {
  document.querySelector<SVGElement>('.canvas')?.focus({ preventScroll: true });
}

/** Moves the focus to the next visible region of the page. */
export function focusNextRegion(): void {
  const shown = regions.flatMap((selector) => document.querySelector<HTMLElement>(selector) ?? []);
  const at = shown.findIndex((region) => region.contains(document.activeElement));
  for (let step = 1; step <= shown.length; step += 1) {
    const region = shown[(at + step) % shown.length];
    const target = region?.matches('.canvas')
      ? region
      : (region?.querySelector<HTMLElement>(`${inConsole}, .cm-content`) ?? region?.querySelector<HTMLElement>(focusable));
    if (!target) continue;
    target.focus();
    return;
  }
}

/** Arrow keys move the focus from entry to entry. */
export function moveFocus(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  const entries = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('button:not(:disabled)')];
  const at = entries.indexOf(document.activeElement as HTMLElement);
  entries[(at + step + entries.length) % entries.length]?.focus();
  event.preventDefault();
  event.stopPropagation();
}
