/** Parts of the page, as tests look for them. */
import type { Locator, Page } from 'playwright-core';

export function canvas(page: Page): { node(name: string): Locator } {
  return {
    // A name may be the beginning of another.
    node: (name) => page.locator(`.node[aria-label="${name}"], .node[aria-label^="${name},"]`),
  };
}

/** Waits until the console that is shown has this text. */
export async function consoleText(page: Page, text: RegExp, timeout?: number): Promise<void> {
  const rows = page.locator('.console:not([hidden]) .xterm-rows').filter({ hasText: text });
  await rows.waitFor(timeout === undefined ? {} : { timeout });
}

/** Types a line into the console that has the focus. */
export async function type(page: Page, line: string): Promise<void> {
  await page.keyboard.type(line);
  await page.keyboard.press('Enter');
}
