/** Parts of the page, and the known state from which a test begins. */
import type { Locator, Page } from 'playwright-core';
import { waitFor } from '../support/wait-for.ts';

export function canvas(page: Page): { node(name: string): Locator } {
  return {
    // Names may be prefixes of others.
    node: (name) => page.locator(`.node[aria-label="${name}"], .node[aria-label^="${name},"]`),
  };
}

/**
 * Brings the page of a project to a known state, whatever the test before left: no dialog, menu, editor or tool is open, nothing is
 * selected, no key or button is held, and the canvas has the focus. `address`: opens it if the page shows another one.
 */
export async function toCanvas(page: Page, address = page.url()): Promise<void> {
  if (page.url() !== address) await page.goto(address);
  await page.mouse.up();
  await page.keyboard.up('Shift');
  const above = page.locator('dialog, .popup');
  // Each Escape closes one of them.
  const isClosed = async () => {
    if ((await above.count()) === 0) return true;
    await page.keyboard.press('Escape');
    return false;
  };
  await waitFor(isClosed, { what: 'a page without dialogs and menus', everyMs: 50 });
  await page.locator('svg.canvas').focus();
  // The first leaves the tool, the second the label, the third the selection.
  for (let press = 0; press < 3; press += 1) await page.keyboard.press('Escape');
  await page.locator('.tool-hint, .canvas .selected, .text-editor, .rename-editor').first().waitFor({ state: 'detached' });
}

/** The middle of an element in the window, when it stands still and nothing covers it: raw movements of the mouse check neither. */
export async function middleOf(element: Locator): Promise<readonly [x: number, y: number]> {
  await element.hover({ trial: true });
  const box = await element.boundingBox();
  if (!box) throw new Error(`${element} is not drawn`);
  return [box.x + box.width / 2, box.y + box.height / 2];
}

/** Selects a link with the mouse. A line has no area, so that a click on it cannot wait until it stands still: it is repeated. */
export async function selectLink(page: Page, at = 0): Promise<void> {
  const link = page.locator('.link').nth(at);
  await waitFor(
    async () => {
      await link.locator('.hit').click({ force: true });
      return (await link.and(page.locator('.selected')).count()) === 1;
    },
    // Two clicks in half a second would be a double click.
    { what: `link ${at} selected`, everyMs: 700 },
  );
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
