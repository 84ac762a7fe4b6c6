/** Templates and images: uploads a disk, creates and uses a template, and shows the screen of its machine in the page. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openTab, picture } from '../support/browser.ts';
import { waitFor } from '../support/wait-for.ts';
import { createProject, withServer } from '../support/with-server.ts';
import { canvas } from './page-parts.ts';

const { server, client } = await withServer();
const remote = await withServer();
const project = await createProject(client, { auto_close: false });
const { page, problems } = await openTab(`${server.url}/templates`);

describe('templates in the browser', () => {
  it('are created and edited in forms that follow from the kind', async () => {
    await page.getByRole('button', { name: 'New template' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Firewall');
    await page.getByLabel('Kind of node').selectOption('qemu');
    await page.getByRole('button', { name: 'Create' }).click();
    const dialog = page.getByRole('dialog', { name: 'Template “Firewall”' });
    await dialog.getByLabel('Memory').fill('64');
    await dialog.getByLabel('Network adapters').fill('3');
    // The choices appear once the kind's schema is loaded.
    await dialog.getByLabel('Console', { exact: true }).and(page.locator('select')).selectOption('vnc');
    await dialog.getByLabel('Category').selectOption('firewall');
    const disk = { name: 'disk one.img', mimeType: 'application/octet-stream', buffer: Buffer.alloc(1024 * 1024) };
    await dialog.locator('input[type=file]').setInputFiles(disk);
    await page.getByText('Uploaded disk one.img').waitFor();
    // Another file of its name does not replace it without a question.
    await dialog.locator('input[type=file]').setInputFiles({ ...disk, buffer: Buffer.from('other') });
    const question = page.getByRole('dialog', { name: 'Replace disk one.img?' });
    await question.getByRole('button', { name: 'Cancel' }).click();
    const images = await client.get<{ filename: string; filesize: number }[]>('/v2/computes/local/qemu/images');
    assert.equal(images.find(({ filename }) => filename === 'disk one.img')?.filesize, 1024 * 1024);
    await dialog.getByLabel('First disk (hda)').fill('disk one.img');
    await picture(page, 'template');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const templates = await client.get<Record<string, unknown>[]>('/v2/templates');
    const made = templates.find(({ name }) => name === 'Firewall');
    assert.deepEqual(
      [made?.ram, made?.adapters, made?.console_type, made?.category, made?.hda_disk_image],
      [64, 3, 'vnc', 'firewall', 'disk one.img'],
    );
  });

  it('show the server’s refusal, and keep the input', async () => {
    await page.getByRole('button', { name: 'Firewall' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Template “Firewall”' });
    await dialog.getByLabel('Node names').fill('');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
  });

  it('are in the palette at once, and their nodes show their screen', async () => {
    await page.goto(`${server.url}/projects/${project.id}`);
    await page.getByRole('searchbox', { name: 'Search templates' }).fill('fire');
    await page.getByRole('button', { name: 'Firewall' }).click();
    const node = canvas(page).node('Firewall-1');
    await node.waitFor();
    await node.click();
    await page.keyboard.press('Alt+s');
    await page.getByText('Running', { exact: true }).first().waitFor();
    await page.keyboard.press('c');
    const screen = page.locator('.screen canvas');
    await screen.waitFor();
    // The firmware's screen is 720 pixels wide: noVNC's canvas has that size after the first picture.
    await waitFor(() => page.evaluate<boolean>("document.querySelector('.screen canvas').width >= 640"), {
      what: 'the picture of the machine',
      limitMs: 120_000,
    });
    await picture(page, 'screen');
  });

  it('have images of each kind, on the selected compute', async () => {
    await client.post('/v2/computes', { name: 'Remote', protocol: 'http', host: '127.0.0.1', port: remote.server.port });
    await page.goto(`${server.url}/images`);
    const images = page.locator('section.images');
    await images.getByText('disk one.img').waitFor();
    // The server's schemas load after the page.
    await images.locator('option').getByText('IOU device').waitFor({ state: 'attached' });
    const kinds = await images.getByLabel('Kind of unknown images').locator('option').allTextContents();
    assert.deepEqual(kinds.toSorted(), ['By content', 'Dynamips router', 'IOU device', 'QEMU VM']);
    await images.getByLabel('Compute').selectOption('Remote');
    await images.getByText('No images yet').waitFor();
    // The first bytes of a Linux program: every image of this kind is one.
    const buffer = Buffer.concat([Buffer.from([0x7f, 0x45, 0x4c, 0x46, 1, 1, 1, 0]), Buffer.alloc(4096)]);
    await images.locator('input[type=file]').setInputFiles({ name: 'l3.bin', mimeType: 'application/octet-stream', buffer });
    await images.locator('.image-table').getByText('l3.bin', { exact: true }).waitFor();
    const there = await remote.client.get<{ filename: string }[]>('/v2/compute/iou/images');
    assert.deepEqual(
      there.map(({ filename }) => filename),
      ['l3.bin'],
    );
    assert.deepEqual(await client.get('/v2/compute/iou/images'), []);
  });

  it('cause no error in the page', () => assert.deepEqual(problems, []));
});
