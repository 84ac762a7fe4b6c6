/** The server's page, by keyboard where possible: computes, running nodes, versions; another real server as a compute. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import axe, { type AxeResults } from 'axe-core';
import { openTab, picture } from '../support/browser.ts';
import { startServer } from '../support/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, withServer } from '../support/with-server.ts';
import { canvas } from './page-parts.ts';

const { server, client } = await withServer();
const remote = await withServer();
const project = await createProject(client, { name: 'Lab', auto_close: false });
const node = await createNode(client, project, 'vpcs', { name: 'Runner' });
await client.post(`${project.path}/nodes/${node.node_id}/start`, {}, 200);
const { page, problems } = await openTab(server.url);
const computes = () => client.get<{ name: string }[]>('/v2/computes');

describe('the server’s page', () => {
  it('shows computes with their load, running nodes, versions and the licence', async () => {
    await page.getByRole('link', { name: 'Server' }).click();
    await page.getByRole('heading', { name: 'Computes' }).waitFor();
    await page.getByText('Connected', { exact: true }).waitFor();
    await page.getByRole('meter', { name: 'Processor' }).waitFor();
    await page.getByText('Runner').waitFor();
    await page.getByRole('link', { name: 'Lab' }).waitFor();
    await page.getByText('Apache License').waitFor();
    const { version } = await client.get<{ version: string }>('/v2/version');
    await page.getByText(version, { exact: true }).waitFor();
  });

  it('shows the doctor’s report of a compute', async () => {
    await page.getByText(/^Doctor: /).click();
    const findings = await client.get<{ what: string }[]>('/v2/computes/local/doctor');
    assert.ok(findings.length > 5);
    for (const { what } of findings) await page.locator('.doctor strong').getByText(what, { exact: true }).first().waitFor();
  });

  it('adds a compute without a mouse', async () => {
    const add = page.getByRole('button', { name: 'Add compute' });
    await add.focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Add compute' });
    await dialog.getByLabel('Name').fill('Remote');
    await dialog.getByLabel('Host').fill('127.0.0.1');
    await dialog.getByLabel('Port').fill(String(remote.server.port));
    await page.keyboard.press('Enter');
    await page.getByText('Connected', { exact: true }).nth(1).waitFor();
    await picture(page, 'server');
  });

  it('moves a node to another compute, and shows why one cannot be moved', async () => {
    const tab = await page.context().newPage();
    tab.setDefaultTimeout(60_000);
    await tab.goto(`${server.url}/projects/${project.id}`);
    const dialog = tab.getByRole('dialog', { name: 'Move Runner' });
    const move = async () => {
      await canvas(tab).node('Runner').click({ button: 'right' });
      await tab.getByRole('menuitem', { name: 'Move to another compute…' }).click();
      await dialog.getByLabel('Compute').selectOption({ label: 'Remote' });
      await dialog.getByRole('button', { name: 'Move', exact: true }).click();
      await dialog.waitFor({ state: 'detached' });
    };
    const place = async () => (await client.get<{ compute_id: string }>(`${project.path}/nodes/${node.node_id}`)).compute_id;
    await move();
    await tab
      .getByText(/Runner cannot be moved while it runs: nodes of its type cannot/)
      .first()
      .waitFor({ state: 'attached' });
    assert.equal(await place(), 'local');
    await client.post(`${project.path}/nodes/${node.node_id}/stop`, {}, 200);
    await move();
    await tab.getByText('Runner was moved', { exact: true }).waitFor();
    assert.notEqual(await place(), 'local');
    await client.post(`${project.path}/nodes/${node.node_id}/migrate`, { compute_id: 'local' }, 200);
    await tab.close();
  });

  it('shows why a compute cannot be added', async () => {
    await page.getByRole('button', { name: 'Add compute' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add compute' });
    await dialog.getByLabel('Name').fill('Remote');
    await dialog.getByLabel('Host').fill('127.0.0.1');
    await dialog.getByLabel('Port').fill(String(remote.server.port));
    await page.keyboard.press('Enter');
    await dialog.getByRole('alert').waitFor();
    await page.keyboard.press('Escape');
  });

  it('removes a compute after confirmation', async () => {
    await page.getByRole('button', { name: 'Remove Remote' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('Remote', { exact: true }).waitFor({ state: 'detached' });
    await waitFor(async () => (await computes()).length === 1, { what: 'the one compute that is left' });
  });

  it('asks for user and password on a page of its own, and signs out', async () => {
    const locked = await startServer({ config: { Server: { auth: true, user: 'ada', password: 'secret' } } });
    try {
      const tab = await page.context().newPage();
      await tab.goto(`${locked.url}/templates`);
      await tab.getByLabel('User').fill('ada');
      await tab.getByLabel('Password').fill('wrong');
      await tab.keyboard.press('Enter');
      await tab.getByText('The user or the password is wrong').waitFor();
      await tab.evaluate(axe.source);
      for (const colorScheme of ['light', 'dark'] as const) {
        await tab.emulateMedia({ colorScheme });
        await picture(tab, `sign-in-${colorScheme}`);
        assert.deepEqual((await tab.evaluate<AxeResults>('axe.run()')).violations, []);
      }
      await tab.getByLabel('Password').fill('secret');
      await tab.keyboard.press('Enter');
      await tab.getByRole('heading', { name: 'Templates' }).waitFor();
      await tab.getByRole('button', { name: 'Sign out' }).click();
      await tab.getByRole('heading', { name: 'Sign in to Patchbay' }).waitFor();
      // The page that signs out shows the form as well until the next one is loaded.
      await tab.waitForURL(`${locked.url}/`);
      // The form is that of the new page when it has the focus.
      await tab.locator('#user:focus').fill('ada');
      await tab.getByLabel('Password').fill('secret');
      await tab.keyboard.press('Enter');
      await tab.getByRole('link', { name: 'Server' }).click();
      await tab.getByRole('button', { name: 'Sign out everywhere' }).click();
      await tab.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
      await tab.getByRole('heading', { name: 'Sign in to Patchbay' }).waitFor();
      await tab.close();
    } finally {
      await locked.stop();
    }
  });

  it('says when its code cannot be loaded, and loads the page again when the server is there', async () => {
    const { page: tab } = await openTab(server.url);
    await tab.getByRole('link', { name: 'Server' }).waitFor();
    // Files of an earlier version: an upgraded server has none of their names.
    await tab.route(/\.js$/, (route) => route.fulfill({ status: 404 }));
    await tab.getByRole('link', { name: 'Server' }).click();
    await tab.getByRole('alert').getByText('This part of the page could not be loaded').waitFor();
    await tab.route('**/v2/version', (route) => route.abort());
    await tab.getByRole('button', { name: 'Load the page again' }).click();
    await tab.getByText('The server does not answer').first().waitFor();
    await tab.getByText('This part of the page could not be loaded').waitFor();
    await tab.unroute(/\.js$/);
    await tab.unroute('**/v2/version');
    await tab.getByRole('button', { name: 'Load the page again' }).click();
    await tab.getByRole('heading', { name: 'Computes' }).waitFor();
    await tab.close();
  });

  it('causes no error in the page', () => assert.deepEqual(problems, []));
});
