/** Locators of parts of the page. */
import type { Locator, Page } from 'playwright-core';

export function canvas(page: Page): { node(name: string): Locator } {
  return {
    // One name may be a prefix of another.
    node: (name) => page.locator(`.node[aria-label="${name}"], .node[aria-label^="${name},"]`),
  };
}

/** The visible console of this name. */
export function consoleOf(page: Page, name: string): Locator {
  return page.getByRole('tabpanel', { name, exact: true });
}

/** Waits until a visible console shows this text; a failure reports the text of all consoles. */
export async function consoleText(
  page: Page,
  text: RegExp,
  { timeout, of }: { timeout?: number; of?: string } = {},
): Promise<void> {
  const shown = of === undefined ? page.locator('.console:not([hidden])') : consoleOf(page, of);
  const rows = shown.locator('.xterm-rows').filter({ hasText: text });
  try {
    await rows.first().waitFor(timeout === undefined ? {} : { timeout });
  } catch (cause) {
    throw new Error(`no console shows ${text}\n${await consolesNow(page)}`, { cause });
  }
}

/** The text of all consoles, including hidden ones, and the focused element. */
async function consolesNow(page: Page): Promise<string> {
  const consoles = await page.locator('.console').all();
  const texts = await Promise.all(
    consoles.map(async (one) => {
      const rows = await one.locator('.xterm-rows > div').allTextContents();
      const note = await one.locator('.console-note, .console-state').allTextContents();
      const isHidden = (await one.getAttribute('hidden')) !== null;
      return [`--- ${isHidden ? 'hidden ' : ''}console`, ...note, ...rows.map((row) => row.trimEnd())].join('\n').trimEnd();
    }),
  );
  const focus = await page.evaluate<string>('document.activeElement?.outerHTML.slice(0, 200) ?? "nothing"');
  return [...texts, `--- focus: ${focus}`].join('\n');
}

/** Types a line into the console that has the focus. */
export async function type(page: Page, line: string): Promise<void> {
  await page.keyboard.type(line);
  await page.keyboard.press('Enter');
}
