/** Freeze, rewind and fork: without a name, in plain words, with a result that is a link, and something said at the end. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Project } from '../../src/schema/project.ts';
import { openTab, picture } from '../support/browser.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, withServer } from '../support/with-server.ts';
import { canvas } from './page-parts.ts';

const { server, client } = await withServer();
const project = await createProject(client, { name: 'Lab', auto_close: false });
const node = await createNode(client, project, 'vpcs', { name: 'PC1', x: 0, y: 0 });
await client.post(`${project.path}/nodes/${node.node_id}/start`, {}, 200);
const { page, problems } = await openTab(`${server.url}/projects/${project.id}`);
const snapshots = () => client.get<{ name: string }[]>(`${project.path}/snapshots`);
const show = async () => {
  await page.getByRole('button', { name: 'Actions for Lab', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Snapshots' }).click();
};
const dialog = page.getByRole('dialog', { name: 'Snapshots of “Lab”' });

describe('the dialog of snapshots', () => {
  it('freezes without a name, under the time, and says so at the end', async () => {
    await show();
    await dialog.getByRole('button', { name: 'Freeze', exact: true }).click();
    await dialog.getByRole('status').filter({ hasText: 'was frozen, and the lab runs on.' }).waitFor();
    await dialog.getByRole('button', { name: 'Freeze', exact: true }).click();
    await waitFor(async () => (await snapshots()).length === 2, { what: 'two snapshots' });
    const names = (await snapshots()).map(({ name }) => name);
    for (const name of names) assert.match(name, /^[A-Z][a-z]{2} \d{1,2}, \d\d\.\d\d/);
    assert.equal(new Set(names).size, 2);
    for (const name of names) await dialog.getByRole('listitem').getByText(name, { exact: true }).waitFor();
  });

  it('uses no word that only the server’s programmers know', async () => {
    const words = await dialog.innerText();
    assert.doesNotMatch(words, /memory|cold|paused|RAM\b/i);
  });

  it('forks into a project that a link opens', async () => {
    await dialog.getByRole('button', { name: 'Fork' }).first().click();
    const link = dialog.getByRole('link', { name: 'Open Lab fork' });
    await link.waitFor();
    await picture(page, 'forked');
    await link.click();
    await dialog.waitFor({ state: 'detached' });
    const fork = (await client.get<Project[]>('/v2/projects')).find(({ name }) => name === 'Lab fork');
    await page.waitForURL(`${server.url}/projects/${fork?.project_id}`);
    await canvas(page).node('PC1').waitFor();
    await page.goBack();
  });

  it('rewinds, closes, and says that undo returns', async () => {
    await page.getByRole('heading', { name: 'Lab', exact: true }).first().waitFor();
    await createNode(client, project, 'vpcs', { name: 'Later', x: 100, y: 100 });
    await canvas(page).node('Later').waitFor();
    await show();
    await dialog.getByRole('button', { name: 'Rewind here' }).first().click();
    await page.getByRole('dialog').last().getByRole('button', { name: 'Rewind' }).click();
    await page.getByText(/^The lab continues from “.+”\. Undo returns to the time before\.$/).waitFor();
    assert.equal(await page.getByRole('dialog').count(), 0);
    await canvas(page).node('Later').waitFor({ state: 'detached' });
  });

  it('is not needed: one key freezes', async () => {
    const before = (await snapshots()).length;
    await page.keyboard.press('Alt+F');
    await page.getByText(/^“.+” was frozen, and the lab runs on\.$/).waitFor();
    assert.equal((await snapshots()).length, before + 1);
  });

  it('causes no errors in the page', () => assert.deepEqual(problems, []));
});
