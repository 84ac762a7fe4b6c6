/** The page creates a template of every kind that clients can create; a guest sees its disk; further cases of the lists. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KindFacts, KindSchemas } from '../../src/schema/kind.ts';
import { openTab } from '../support/browser.ts';
import { createProject, withServer } from '../support/with-server.ts';

const { server, client } = await withServer();
const kinds = (await client.get<KindFacts[]>('/v2/kinds')).filter(({ templates }) => templates);
const { page, problems } = await openTab(`${server.url}/templates`);

describe('a template in the page', () => {
  for (const { node_type, title } of kinds)
    it(`can be of the kind ${node_type}`, async () => {
      const { template } = await client.get<KindSchemas>(`/v2/kinds/${node_type}/schemas`);
      await page.getByRole('button', { name: 'New template' }).click();
      const dialog = page.getByRole('dialog', { name: 'New template' });
      await dialog.getByLabel('Name', { exact: true }).fill(`My ${node_type}`);
      await dialog.getByLabel('Kind of node').selectOption(node_type);
      const fields = dialog.locator('input:not([type=file]), select');
      for (let place = 2; place < 2 + (template?.required.length ?? 0); place++) {
        const field = fields.nth(place);
        await field.waitFor();
        if ((await field.and(dialog.locator('select')).count()) > 0) await field.selectOption({ index: 1 });
        else if ((await field.getAttribute('type')) === 'number') await field.fill('128');
        else await field.fill('image.bin');
        await field.blur();
      }
      await dialog.getByRole('button', { name: 'Create' }).click();
      const editor = page.getByRole('dialog', { name: `Template “My ${node_type}”` });
      await editor.waitFor();
      await editor.getByRole('button', { name: 'Cancel' }).click();
      const templates = await client.get<{ name: string; template_type: string }[]>('/v2/templates');
      assert.equal(templates.find(({ name }) => name === `My ${node_type}`)?.template_type, node_type, title);
    });

  it('connects a chosen disk to an interface', async () => {
    await page.getByRole('button', { name: 'My qemu' }).first().click();
    const editor = page.getByRole('dialog', { name: 'Template “My qemu”' });
    await editor.getByLabel('First disk (hda)').fill('disk.qcow2');
    await editor.getByLabel('First disk (hda)').blur();
    await editor.getByRole('button', { name: 'Save' }).click();
    await editor.waitFor({ state: 'detached' });
    const templates = await client.get<{ name: string; hda_disk_interface: string }[]>('/v2/templates');
    assert.equal(templates.find(({ name }) => name === 'My qemu')?.hda_disk_interface, 'ide');
  });
});

describe('the list of projects', () => {
  it('keeps a row while its project is exported', async () => {
    const project = await createProject(client, { name: 'Exported', auto_close: false });
    // The export emits a notification for each file.
    await fetch(`${server.url}/v2/projects/${project.id}/files/notes.txt`, { method: 'POST', body: 'notes' });
    await page.goto(server.url);
    await page.getByText('Exported').waitFor();
    const notified = page.evaluate(`new Promise((resolve) => {
      fetch('/v2/projects/${project.id}/export').then((answer) => answer.blob()).then(resolve);
    })`);
    await notified;
    // A later notification is shown, so the earlier ones were handled.
    await createProject(client, { name: 'Later', auto_close: false });
    await page.getByText('Later').waitFor();
    assert.equal(await page.getByText('Exported').count(), 1);
  });

  it('works without the OpenAPI document', async () => {
    const requests: string[] = [];
    page.on('request', (request) => requests.push(new URL(request.url()).pathname));
    await page.reload();
    await page.getByText('Later').waitFor();
    assert.ok(requests.includes('/v2/projects'));
    assert.ok(!requests.includes('/openapi.json'));
    assert.deepEqual(problems, []);
  });
});
