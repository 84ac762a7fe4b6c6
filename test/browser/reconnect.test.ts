/** A page whose server is away for a while: it resumes from its last change, and reads everything only if the server lost the record. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { openTab } from '../support/browser.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, withServer } from '../support/with-server.ts';
import { canvas } from './page-parts.ts';

const { server, client } = await withServer();
const project = await createProject(client, { auto_close: false, auto_open: true });
const names = { stays: 'Stays', moves: 'Moves', goes: 'Goes' };
const [stays, moves, goes] = await Promise.all(
  Object.values(names).map((name, place) => createNode(client, project, 'vpcs', { name, x: place * 120 - 200, y: 0 })),
);
assert.ok(stays && moves && goes);
const { page, problems } = await openTab(`${server.url}/projects/${project.id}`);
const lost = page.getByText('The connection to the server is lost');
const reads = readsOf(page);

describe('a page that lost its connection', () => {
  it('receives the changes of others meanwhile, and reads nothing twice', async () => {
    await canvas(page).node(names.goes).waitFor();
    await client.post(`${project.path}/nodes/${stays.node_id}/start`, {}, 200);
    await page.locator('.node.started').waitFor();
    reads();
    await awayWhile(async () => {
      await client.put(`${project.path}/nodes/${moves.node_id}`, { x: 300, y: 120 });
      await client.delete(`${project.path}/nodes/${goes.node_id}`);
      await createNode(client, project, 'vpcs', { name: 'New', x: 0, y: 200 });
      await client.post(`${project.path}/drawings`, { svg: '<svg width="30" height="30"><rect width="30" height="30"/></svg>' });
      await client.post(`${project.path}/nodes/${stays.node_id}/stop`, {}, 200);
    });
    await canvas(page).node('New').waitFor();
    await page.locator('.node[transform="translate(300 120)"]').waitFor();
    await canvas(page).node(names.goes).waitFor({ state: 'detached' });
    await page.locator('.node.started').waitFor({ state: 'detached' });
    await page.locator('.drawing').waitFor();
    assert.equal(await page.locator('.node').count(), 3);
    assert.deepEqual(reads(), []);
  });

  it('reads everything when the server has no record of the missed changes', async () => {
    const { snapshot_id } = await client.post<{ snapshot_id: string }>(`${project.path}/snapshots`, { name: 'kept' });
    await createNode(client, project, 'vpcs', { name: 'Later', x: 100, y: 200 });
    await canvas(page).node('Later').waitFor();
    reads();
    await awayWhile(() => client.post(`${project.path}/snapshots/${snapshot_id}/restore`));
    await canvas(page).node('Later').waitFor({ state: 'detached' });
    await canvas(page).node('New').waitFor();
    assert.deepEqual(reads(), ['', '/drawings', '/links', '/nodes']);
  });

  it('shows a complete project that was closed and opened meanwhile', async () => {
    await client.post(`${project.path}/close`, {}, 204);
    await page.getByRole('heading', { name: 'is closed' }).waitFor();
    await awayWhile(() => client.post(`${project.path}/open`));
    await canvas(page).node('New').waitFor();
    assert.equal(await page.locator('.node').count(), 3);
  });

  it('sends once more what a change of the network has ended, whether the server had received it or not', async () => {
    const asked: string[] = [];
    const removed = await Promise.all(
      ['Once', 'Twice'].map((name, place) => createNode(client, project, 'vpcs', { name, x: place * 120, y: -150 })),
    );
    let name = '';
    await page.route('**/v2/projects/*/nodes/*', async (route) => {
      if (route.request().method() !== 'DELETE') return route.continue();
      asked.push(name);
      if (asked.filter((one) => one === name).length > 1) return route.continue();
      if (name === 'Twice') await route.fetch();
      return route.abort('internetdisconnected');
    });
    for (const node of removed) {
      name = node.name;
      await canvas(page).node(name).click();
      await page.keyboard.press('Delete');
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await canvas(page).node(name).waitFor({ state: 'detached' });
      // The notification of the deletion is faster than the end of the request.
      await waitFor(() => asked.filter((one) => one === name).length === 2, { what: `the repeated deletion of ${name}` });
    }
    await page.unroute('**/v2/projects/*/nodes/*');
    assert.deepEqual(asked, ['Once', 'Once', 'Twice', 'Twice']);
    await page.waitForLoadState('networkidle');
    assert.equal(await page.locator('.toast.error').count(), 0);
  });

  it('causes no error in the page', () => assert.deepEqual(problems, []));
});

/** Kills and restarts the server; the page cannot connect until `task` is done. */
async function awayWhile(task: () => Promise<unknown>): Promise<void> {
  await page.route('**/v2/tickets', (route) => route.abort());
  await server.kill9();
  await lost.waitFor();
  await server.restart();
  await task();
  await page.unroute('**/v2/tickets');
  await lost.waitFor({ state: 'detached' });
}

/** Lists of the project that were read since the last call, in alphabetical order. */
function readsOf(ofPage: Page): () => string[] {
  let paths: string[] = [];
  ofPage.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (request.method() === 'GET' && pathname.startsWith(project.path)) paths.push(pathname.slice(project.path.length));
  });
  return () => {
    const read = paths.filter((path) => ['', '/nodes', '/links', '/drawings'].includes(path)).sort();
    paths = [];
    return read;
  };
}
