/** Long names and long errors stay inside: at no size does text leave its box or the page scroll sideways. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { openTab, picture } from '../support/browser.ts';
import { withServer } from '../support/with-server.ts';
import { canvas, consoleText } from './page-parts.ts';
import { createLab, views } from './views.ts';

const { server, client } = await withServer();
const long = (letter: string, letters = 200) => letter.repeat(letters);
const project = await createLab(client);
const nodes = await client.get<{ node_id: string; name: string; node_type: string }[]>(`${project.path}/nodes`);
// The views find nodes by the beginning of their names, up to a comma.
for (const { node_id, name } of nodes.filter(({ node_type }) => node_type !== 'vpcs'))
  await client.put(`${project.path}/nodes/${node_id}`, { name: `${name}, ${long('w', 190)}` });
await client.post('/v2/templates', { name: long('T'), template_type: 'vpcs', compute_id: 'local' });
const { page, problems } = await openTab(`${server.url}/projects/${project.id}`);
const sizes = [
  [1280, 800],
  [820, 1100],
  [390, 844],
] as const;

/** Texts that leave the box of the element that holds them, and elements beyond the edge of the window. */
const overflowing = (page: Page) =>
  page.evaluate<string[]>(`(() => {
    const found = new Set();
    const root = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body;
    if (document.documentElement.scrollWidth > innerWidth) found.add('the page is ' + document.documentElement.scrollWidth + ' px wide');
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const text = walker.currentNode;
      const element = text.parentElement;
      if (!text.textContent.trim() || element.closest('svg, .xterm, .unseen, script, style, option, textarea')) continue;
      const range = document.createRange();
      range.selectNodeContents(text);
      const rect = range.getBoundingClientRect();
      if (rect.width === 0 || getComputedStyle(element).fontSize === '0px') continue;
      // The nearest ancestor that clips or scrolls, or the window, has room for it, or ends it with an ellipsis.
      let holder = element;
      while (holder !== document.documentElement && getComputedStyle(holder).overflowX === 'visible' && getComputedStyle(holder).clipPath === 'none') holder = holder.parentElement;
      const style = getComputedStyle(holder);
      if (style.clipPath !== 'none' || style.textOverflow === 'ellipsis') continue;
      if (holder.closest('.packet-table, .image-table, .rows, pre, code, .code, table')) continue;
      const { left, right } = holder === document.documentElement ? { left: 0, right: innerWidth } : holder.getBoundingClientRect();
      if (rect.right > right + 1 || rect.left < left - 1)
        found.add((element.className || element.tagName) + ' in ' + (holder.className || holder.tagName) + ': ' + text.textContent.trim().slice(0, 30) + ' ' + Math.round(rect.left) + '-' + Math.round(rect.right) + ' of ' + Math.round(left) + '-' + Math.round(right));
    }
    return [...found];
  })()`);

async function inAllSizes(name: string): Promise<void> {
  const findings: string[] = [];
  for (const [width, height] of sizes) {
    await page.setViewportSize({ width, height });
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    await picture(page, `long-${name}-${width}`);
    for (const one of await overflowing(page)) findings.push(`${width}: ${one}`);
  }
  await page.setViewportSize({ width: sizes[0][0], height: sizes[0][1] });
  assert.deepEqual(findings, []);
}

/** Views whose text is names of the lab. */
const ofNames = ['canvas', 'node', 'switch'];

describe('long names', () => {
  for (const { name, show, part = 'html' } of views.filter((view) => ofNames.includes(view.name)))
    it(`stay inside in ${name}`, async () => {
      await show(page);
      await page.locator(part).waitFor();
      await page.locator('.loading-note').first().waitFor({ state: 'detached' });
      await inAllSizes(name);
    });
});

describe('an error of 2,000 letters', () => {
  it('stays inside the panel of its node', async () => {
    const json = { message: long('e', 2_000), status: 409 };
    await page.route('**/nodes/*/start', (route) => route.fulfill({ status: 409, json }));
    await canvas(page).node('PC2').click();
    await page.getByRole('heading', { name: 'PC2' }).waitFor();
    await page.locator('.inspector').getByRole('button', { name: 'Start', exact: true }).click();
    await page.locator('.inspector .notice.error').waitFor();
    await inAllSizes('failure');
  });
});

describe('a console in a narrow window', () => {
  it('closes the panels that would lie over it', async () => {
    await canvas(page).node('PC1').click();
    await page.getByRole('heading', { name: 'PC1' }).waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    await page.locator('.inspector').getByRole('button', { name: 'Console', exact: true }).click();
    await page.locator('.inspector').waitFor({ state: 'detached' });
    assert.equal(await page.locator('.palette').count(), 0);
    await consoleText(page, /VPCS>/);
    await picture(page, 'narrow-console');
  });

  it('causes no error in the page', () => assert.deepEqual(problems, []));
});
