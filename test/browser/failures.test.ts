/** Failures of nodes: shown in every window of the project, with the button that repairs them. */
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { openTab, picture } from '../support/browser.ts';
import { createNode, createProject, withServer } from '../support/with-server.ts';
import { canvas } from './page-parts.ts';

const { server, client } = await withServer();
const project = await createProject(client, { name: 'Lab', auto_close: false });
await client.send('POST /v2/compute/qemu/images/absent.img', { raw: Buffer.alloc(70_000, 5) });
const { node_id } = await createNode(client, project, 'qemu', { name: 'VM', properties: { hda_disk_image: 'absent.img' } });
await rm(join(server.dataDir, 'images', 'QEMU', 'absent.img'));
const { page, problems } = await openTab(`${server.url}/projects/${project.id}`);
const panel = page.locator('aside.inspector');

describe('a node that cannot start', () => {
  it('says why in a window that did not ask for it, with the buttons that repair it', async () => {
    await canvas(page).node('VM').click();
    await panel.getByRole('heading', { name: 'VM' }).waitFor();
    const { status } = await client.send(`POST ${project.path}/nodes/${node_id}/start`);
    assert.ok(status >= 400, `${status}`);
    await panel
      .getByRole('alert')
      .getByText(/absent\.img/)
      .waitFor();
    await picture(page, 'failure');
    await panel.getByRole('button', { name: 'Start again' }).waitFor();
    await panel.getByRole('button', { name: 'Add the image…' }).click();
    const images = page.getByRole('dialog', { name: 'Images' });
    const file = { name: 'absent.img', mimeType: '', buffer: Buffer.alloc(70_000, 5) };
    await images.locator('input[type=file]').setInputFiles(file);
    await images.getByText('Stored as absent.img').waitFor();
    await picture(page, 'failure-image');
    await page.keyboard.press('Escape');
  });

  it('is started again there, and the failure is gone in this window, also when another user starts it', async () => {
    await panel.getByRole('button', { name: 'Start again' }).click();
    await panel.getByText('Running', { exact: true }).waitFor();
    await panel.getByRole('alert').waitFor({ state: 'detached' });
    assert.equal(await panel.getByRole('button', { name: 'Start again' }).count(), 0);
    await client.post(`${project.path}/nodes/${node_id}/stop`, {}, 200);
  });

  it('causes no error in the page', () => assert.deepEqual(problems, []));
});
