/** Where the focus goes when what has it goes away. */

/** What a part of the page is, for the keys that go from one to the next. In this order. */
const regions = ['.canvas', '.inspector', '.consoles .pane.current', '.palette', '.top-bar'] as const;
const focusable = 'a[href], button:not(:disabled), input:not(:disabled), select, textarea, summary, [tabindex="0"]';

/** What is typed into or walked through with keys, before the tabs above it. */
const inConsole = '.console:not([hidden]) :is(textarea, [tabindex="0"], canvas)';

/** Remembers what has the focus. What is returned gives it back, unless something else has it by then. */
export function keepFocus(): () => void {
  const before = document.activeElement;
  return () => {
    // What goes away is still there while its end is told.
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

/** Goes to the next part of the page that is shown. */
export function focusNextRegion(): void {
  const shown = regions.flatMap((selector) => document.querySelector<HTMLElement>(selector) ?? []);
  const at = shown.findIndex((region) => region.contains(document.activeElement));
  for (let step = 1; step <= shown.length; step += 1) {
    const region = shown[(at + step) % shown.length];
    const target = region?.matches('.canvas')
      ? region
      : (region?.querySelector<HTMLElement>(inConsole) ?? region?.querySelector<HTMLElement>(focusable));
    if (!target) continue;
    target.focus();
    return;
  }
}

/** Arrow keys go from one entry to the next. */
export function moveFocus(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  const entries = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('button:not(:disabled)')];
  const at = entries.indexOf(document.activeElement as HTMLElement);
  entries[(at + step + entries.length) % entries.length]?.focus();
  event.preventDefault();
  event.stopPropagation();
}
