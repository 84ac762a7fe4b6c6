/** Keys that follow one another at once: each acts on what the key before it changed, although no frame has been drawn since. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Route } from 'playwright-core';
import { openTab } from '../support/browser.ts';
import { createNode, createProject, withServer } from '../support/with-server.ts';
import { canvas, consoleText, type } from './page-parts.ts';

const { server, client } = await withServer();
const project = await createProject(client, { auto_close: false });
const pc = await createNode(client, project, 'vpcs', { name: 'PC1', x: 0, y: 0 });
await createNode(client, project, 'vpcs', { name: 'Far', x: 4000, y: 3000 });
const svg = '<svg width="80" height="24"><text font-size="16" fill="#808080">Words</text></svg>';
await client.post(`${project.path}/drawings`, { svg, x: -200, y: -100 });
await client.post(`${project.path}/nodes/${pc.node_id}/start`, {}, 200);
const { page, problems } = await openTab(`${server.url}/projects/${project.id}`);

/**
 * Runs a script in one task of the page, after which only microtasks have run; resolves to its result. `key` presses a key, `turn`
 * lets the microtasks run.
 */
const inOneTask = <T>(script: string) =>
  page.evaluate<T>(`(async () => {
    const turn = async () => { for (let count = 0; count < 100; count += 1) await undefined; };
    const key = async (name, more) => {
      document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true, ...more }));
      await turn();
    };
    ${script}
  })()`);
const select = (name: string) => `
  for (let count = 0; count < 4 && !document.querySelector('.node.selected')?.ariaLabel.startsWith('${name}'); count += 1)
    await key('n');`;

describe('a key that follows at once', () => {
  it('acts on the view that shows the selected node', async () => {
    await canvas(page).node('Far').waitFor({ state: 'attached' });
    await page.locator('svg.canvas').focus();
    // The whole project is in sight until then.
    await page.keyboard.press('0');
    await page.locator('svg.canvas:not(.far)').waitFor();
    const isInSight = await inOneTask<boolean>(`${select('Far')}
      const [node, area] = ['.node.selected', 'svg.canvas'].map((one) => document.querySelector(one).getBoundingClientRect());
      return node.right <= area.right && node.bottom <= area.bottom && node.left >= area.left && node.top >= area.top;`);
    assert.equal(isInSight, true);
  });

  it('is typed into the search of a palette that was closed', async () => {
    const focused = await inOneTask<string>("await key('a'); await key('/'); return document.activeElement.type;");
    assert.equal(focused, 'search');
  });

  it('is typed into the text that it edits', async () => {
    await page.locator('svg.canvas').focus();
    await page.keyboard.press('f');
    await page.locator('.drawing text').click();
    const editor = await inOneTask<string>("await key('F2'); return document.activeElement.className;");
    assert.equal(editor, 'text-editor');
    await page.keyboard.press('Escape');
  });

  it('finds the command of the command menu done, and the focus back', async () => {
    await page.locator('svg.canvas:focus').waitFor();
    const found = await inOneTask<string[]>(`await key('k', { ctrlKey: true });
      const field = document.activeElement;
      field.value = 'far';
      field.dispatchEvent(new InputEvent('input', { bubbles: true }));
      await turn();
      await key('Enter');
      const focused = document.activeElement.tagName;
      await key('l');
      return [document.querySelector('.node.selected').ariaLabel, focused, document.querySelector('.tool-hint').textContent];`);
    assert.deepEqual(found, ['Far, Stopped', 'svg', 'Far Ethernet0 → click the second node, or select it (N) and press L Esc']);
    await page.keyboard.press('Escape');
  });

  it('is not lost in a dialog that Escape has closed', async () => {
    await page.keyboard.press('?');
    // The request that Escape makes: only a real key would make it otherwise.
    const hint = await inOneTask<string>(`document.querySelector('dialog').requestClose();
      await turn();
      await key('t');
      return document.querySelector('.tool-hint')?.textContent ?? 'lost';`);
    assert.match(hint, /text/);
    await page.keyboard.press('Escape');
  });
});

describe('the late answer of a request that made a node', () => {
  it('leaves the selection as the user has changed it since, and is selected otherwise', async () => {
    const gate = Promise.withResolvers<void>();
    const answer = async (route: Route) => {
      const response = await route.fetch();
      await gate.promise;
      await route.fulfill({ response });
    };
    await page.route('**/templates/*', answer, { times: 1 });
    const answered = page.waitForResponse(/\/templates\//);
    await page.getByRole('button', { name: 'VPCS' }).click();
    // The notification of the node came first.
    await canvas(page).node('PC2').waitFor();
    await canvas(page).node('PC1').click();
    gate.resolve();
    await (await answered).finished();
    await page.locator('svg.canvas').focus();
    await page.keyboard.press('Delete');
    await page.getByRole('dialog').getByText('PC1').first().waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'VPCS' }).click();
    await canvas(page).node('PC3').and(page.locator('.selected')).waitFor();
  });
});

describe('a console whose program is still being loaded', () => {
  const hold = async () => {
    const gate = Promise.withResolvers<void>();
    await page.route('**/assets/terminal-*.js', (route) => gate.promise.then(() => route.continue()), { times: 1 });
    await page.reload();
    await canvas(page).node('PC1').waitFor();
    await page.locator('svg.canvas').focus();
    await page.keyboard.press('f');
    await canvas(page).node('PC1').click();
    await page.keyboard.press('Enter');
    return gate;
  };

  it('keeps what is typed', async () => {
    const gate = await hold();
    await type(page, 'echo typed early');
    gate.resolve();
    await consoleText(page, /> echo typed early/);
    await page.locator('.console textarea:focus').waitFor();
  });

  it('leaves the focus where it was moved meanwhile', async () => {
    const gate = await hold();
    await page.keyboard.press('Control+F6');
    gate.resolve();
    await consoleText(page, /echo typed early/);
    assert.equal(await page.evaluate('document.activeElement.tagName'), 'svg');
  });

  it('causes no error in the page', () => assert.deepEqual(problems, []));
});
