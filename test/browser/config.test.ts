/** Start-up configurations in the page: written, compared with the version before, replaced by a file. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openTab } from '../support/browser.ts';
import { expectStatus } from '../support/raw-http.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, withServer } from '../support/with-server.ts';
import { canvas } from './page-parts.ts';

const { server, client } = await withServer();
const project = await createProject(client, { auto_close: false });
const node = await createNode(client, project, 'vpcs', { name: 'PC1' });
await createNode(client, project, 'ethernet_hub', { name: 'Hub', x: 200 });
const fileOf = (path: string) => `${project.path}/nodes/${node.node_id}/files/${path}`;
const contentOf = async (path: string) => expectStatus(await client.send(`GET ${fileOf(path)}`), 200).text();
const { page, problems } = await openTab(`${server.url}/projects/${project.id}`);
const dialog = page.getByRole('dialog', { name: 'Configuration of PC1' });
const text = dialog.getByLabel('Content of the file');
const reads = (value: string) => waitFor(async () => (await text.inputValue()) === value, { what: `the text ${value}` });

describe('configuration files in the browser', () => {
  it('are written, and compared with the version before', async () => {
    await canvas(page).node('Hub').click();
    await page.locator('.inspector h2', { hasText: 'Hub' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Configuration files' }).count(), 0);
    await canvas(page).node('PC1').click();
    await page.getByRole('button', { name: 'Configuration files' }).click();
    await dialog.getByText('This file does not exist yet').waitFor();
    assert.equal(await dialog.getByLabel('File', { exact: true }).inputValue(), 'startup.vpc');
    await text.fill('set pcname PC1\nip 10.0.0.1 24\n');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('This file does not exist yet').waitFor({ state: 'detached' });
    assert.equal(await contentOf('startup.vpc'), 'set pcname PC1\nip 10.0.0.1 24\n');
    await text.fill('set pcname PC1\nip 10.0.0.7 24\n');
    await dialog.getByLabel('Show changes since the last version').check();
    await dialog.locator('.diff .removed', { hasText: '- ip 10.0.0.1 24' }).waitFor();
    await dialog.locator('.diff .added', { hasText: '+ ip 10.0.0.7 24' }).waitFor();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await waitFor(async () => (await contentOf('startup.vpc')).includes('10.0.0.7'), { what: 'the change on the server' });
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Configuration files' }).click();
    // The version before is a file of the node: it is there for every user, and after a reload.
    await dialog.getByLabel('Show changes since the last version').check();
    await dialog.locator('.diff .removed', { hasText: '- ip 10.0.0.1 24' }).waitFor();
  });

  it('keep their line ends when they are edited', async () => {
    await client.send(`POST ${fileOf('deep/windows.cfg')}`, { raw: Buffer.from('one\r\ntwo\r\n') });
    await dialog.getByLabel('File', { exact: true }).fill('deep/windows.cfg');
    await page.keyboard.press('Tab');
    await waitFor(async () => (await text.inputValue()) === 'one\ntwo\n', { what: 'the content of the file' });
    await text.fill('one\nthree\ntwo\n');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await waitFor(async () => (await contentOf('deep/windows.cfg')).includes('three'), { what: 'the change on the server' });
    assert.equal(await contentOf('deep/windows.cfg'), 'one\r\nthree\r\ntwo\r\n');
    await dialog.getByLabel('File', { exact: true }).fill('startup.vpc');
    await page.keyboard.press('Tab');
    await waitFor(async () => (await text.inputValue()).includes('10.0.0.7'), { what: 'the start-up configuration' });
  });

  it('are replaced by a file, and one that is no text is not edited', async () => {
    await dialog
      .locator('input[type=file]')
      .setInputFiles({ name: 'any.vpc', mimeType: 'text/plain', buffer: Buffer.from('ip dhcp\n') });
    await waitFor(async () => (await contentOf('startup.vpc')) === 'ip dhcp\n', { what: 'the uploaded file on the server' });
    // The second would be stored with other characters, the third is too long.
    for (const [name, raw] of [
      ['data.bin', Buffer.from([0, 1, 2])],
      ['latin.cfg', Buffer.from('banner caf\xe9\n', 'latin1')],
      ['long.cfg', Buffer.alloc(2 ** 20, 'x')],
    ] as const) {
      await client.send(`POST ${fileOf(`deep/${name}`)}`, { raw });
      await dialog.getByLabel('File', { exact: true }).fill('startup.vpc');
      await page.keyboard.press('Tab');
      await text.waitFor();
      await dialog.getByLabel('File', { exact: true }).fill(`deep/${name}`);
      await page.keyboard.press('Tab');
      await dialog.getByText('This file is not text').waitFor();
      assert.ok(await dialog.getByRole('button', { name: 'Save' }).isDisabled());
    }
    await dialog.getByRole('link', { name: 'Download' }).waitFor();
  });

  it('keep an unsaved text when their dialog is closed, until it is saved or discarded', async () => {
    await dialog.getByLabel('File', { exact: true }).fill('startup.vpc');
    await page.keyboard.press('Tab');
    await reads('ip dhcp\n');
    await text.fill('ip 10.0.0.9 24\n');
    await dialog.getByText('Not saved').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Configuration files' }).click();
    await reads('ip 10.0.0.9 24\n');
    assert.equal(await contentOf('startup.vpc'), 'ip dhcp\n');
    await dialog.getByRole('button', { name: 'Discard changes' }).click();
    await reads('ip dhcp\n');
    await text.fill('ip 10.0.0.8 24\n');
    const refused = { status: 409, contentType: 'application/json', body: '{"message": "refused once"}' };
    await page.route('**/files/**', (route) => (route.request().method() === 'POST' ? route.fulfill(refused) : route.continue()));
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('refused once').waitFor();
    await page.unroute('**/files/**');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Configuration files' }).click();
    await reads('ip 10.0.0.8 24\n');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await waitFor(async () => (await contentOf('startup.vpc')) === 'ip 10.0.0.8 24\n', { what: 'the saved text on the server' });
  });

  it('lead to the login page when the session has ended, as every request does', async () => {
    const headers = { 'www-authenticate': 'Cookie realm="Patchbay"' };
    await page.route('**/files/**', (route, request) =>
      request.method() === 'POST' ? route.fulfill({ status: 401, headers, body: '{}' }) : route.continue(),
    );
    await text.fill('ip 10.0.0.7 24\n');
    const loaded = page.waitForEvent('load');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await loaded;
    await dialog.waitFor({ state: 'detached' });
    await page.unroute('**/files/**');
    // The text typed before is there after the login, too.
    await canvas(page).node('PC1').click();
    await page.getByRole('button', { name: 'Configuration files' }).click();
    await reads('ip 10.0.0.7 24\n');
    assert.equal(await contentOf('startup.vpc'), 'ip 10.0.0.8 24\n');
    await dialog.getByRole('button', { name: 'Discard changes' }).click();
    await reads('ip 10.0.0.8 24\n');
    assert.equal(await page.evaluate("Object.keys(sessionStorage).filter((key) => key.includes('draft')).length"), 0);
  });

  it('cause no error in the page', () => assert.deepEqual(problems, []));
});
