/** Appliances and images in the page: a file of the user becomes a template and a node, whatever its name. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { openTab, picture } from '../support/browser.ts';
import { imageMd5, withImageServer } from '../support/image-server.ts';
import { waitFor } from '../support/wait-for.ts';
import { createProject, withServer } from '../support/with-server.ts';
import { canvas } from './page-parts.ts';

const source = await withImageServer();
const { server, client } = await withServer({ config: { Server: { image_hosts: source.origin } } });
const project = await createProject(client, { auto_close: false });
const { page, problems } = await openTab(`${server.url}/appliances`);
const disk = Buffer.alloc(3 * 1024 * 1024, 7);
const md5sum = createHash('md5').update(disk).digest('hex');
const router = {
  name: 'Test router',
  category: 'router',
  vendor_name: 'Acme',
  description: 'Routes tests.',
  product_url: 'javascript:alert(1)',
  qemu: { arch: 'x86_64', ram: 96, adapters: 3, adapter_type: 'e1000', console_type: 'telnet' },
  images: [
    { filename: 'router-2.img', version: '2', md5sum, filesize: disk.length, download_url: 'https://acme.example/get' },
    { filename: 'router-1.img', version: '1', md5sum: '0'.repeat(32) },
    { filename: 'router-3.img', version: '3', md5sum: imageMd5, direct_download_url: `${source.origin}/disk.img` },
  ],
  versions: [
    { name: '1', images: { hda_disk_image: 'router-1.img' } },
    { name: '3', images: { hda_disk_image: 'router-3.img' } },
    { name: '2', images: { hda_disk_image: 'router-2.img', hdb_disk_image: 'empty8G.qcow2' } },
  ],
};
const file = (name: string, buffer: Buffer) => ({ name, mimeType: 'application/octet-stream', buffer });
const appliance = file('router.gns3a', Buffer.from(JSON.stringify(router)));
const templates = () => client.get<Record<string, unknown>[]>('/v2/templates');
const dialog = page.getByRole('dialog');

/** Drops a file on the canvas. */
async function drop(name: string, size: number, fill: number): Promise<void> {
  const data = await page.evaluateHandle(
    `(() => { const data = new DataTransfer(); data.items.add(new File([new Uint8Array(${size}).fill(${fill})], ${JSON.stringify(name)})); return data; })()`,
  );
  await page.locator('svg.canvas').dispatchEvent('drop', { dataTransfer: data, clientX: 640, clientY: 300 });
}

describe('appliances in the browser', () => {
  it('are found by words, category, vendor and kind', async () => {
    const card = (name: string) => page.locator('.appliance-card').filter({ hasText: name });
    await card('Arista vEOS').waitFor();
    await page.getByLabel('Search appliances').fill('veos');
    await page.getByText(/^1 of \d+ appliances$/).waitFor();
    await page.getByLabel('Search appliances').fill('');
    await page.getByLabel('Vendor').selectOption('Cisco');
    await page.getByLabel('Runs as').selectOption('dynamips');
    await card('Cisco 7200').waitFor();
    assert.equal(await card('Cisco IOSv').count(), 0);
    await page.getByLabel('Vendor').selectOption('');
    await page.getByLabel('Runs as').selectOption('');
    await page.getByLabel('Category').selectOption('multilayer_switch');
    await card('Arista vEOS').getByText('2 images needed').waitFor();
    await page.getByLabel('Category').selectOption('');
    await card('FRRouting').click();
    await dialog.getByText(/engine pulls frrouting\/frr:latest/).waitFor();
    await dialog.getByRole('button', { name: 'Create template', disabled: false }).waitFor();
    await page.keyboard.press('Escape');
  });

  it('say what they need, recognise an image by its checksum, and make the template', async () => {
    await page
      .locator('input[type=file]')
      .first()
      .setInputFiles(file('broken.gns3a', Buffer.from('{"name": 1}')));
    await page.getByText('broken.gns3a is not an appliance file.').waitFor();
    await page.locator('input[type=file]').first().setInputFiles(appliance);
    await dialog.getByText('1 file is missing').waitFor();
    // An address that is not of the web is not shown.
    assert.equal(await dialog.getByRole('link').count(), 0);
    await dialog.locator('input[type=file]').setInputFiles(file('other.bin', Buffer.alloc(64)));
    await dialog.getByText(/Not a file of this appliance: MD5/).waitFor();
    await dialog.locator('input[type=file]').setInputFiles(file('my download (1).bin', disk));
    await dialog.getByText('Stored as router-2.img').waitFor();
    // The file chose the version that needs it.
    assert.equal(await dialog.getByLabel('Version').inputValue(), '2');
    await dialog.getByText('Created when a node needs it').waitFor();
    await picture(page, 'appliance');
    // The user says which file of the other version an unknown one is.
    await dialog.getByLabel('Version').selectOption('1');
    await dialog.getByRole('button', { name: 'Use it' }).click();
    await dialog.getByText('Stored as router-1.img').waitFor();
    const create = dialog.getByRole('button', { name: 'Create template' });
    await waitFor(() => create.isEnabled(), { what: 'a version with a file of the user' });
    // The server downloads what its list permits.
    await dialog.getByLabel('Version').selectOption('3');
    await dialog.getByRole('link', { name: 'Direct download' }).waitFor();
    await picture(page, 'appliance-download');
    await dialog.getByRole('button', { name: 'Download', exact: true }).click();
    await dialog.getByText('Stored as router-3.img').waitFor();
    await waitFor(() => create.isEnabled(), { what: 'the version with the downloaded file' });
    await dialog.getByLabel('Version').selectOption('2');
    await dialog.getByRole('button', { name: 'Create template' }).click();
    await dialog.waitFor({ state: 'detached' });
    const made = (await templates()).find(({ name }) => name === 'Test router');
    assert.deepEqual(
      [made?.ram, made?.adapters, made?.category, made?.hda_disk_image, made?.hdb_disk_image],
      [96, 3, 'router', 'router-2.img', 'empty8G.qcow2'],
    );
    await page.locator('.appliance-card').filter({ hasText: 'Test router' }).getByText('Template exists').waitFor();
  });

  it('of registry version 8 recognise their images, and make templates of the settings of each version', async () => {
    const content = Buffer.alloc(4096, 8);
    const checksum = createHash('md5').update(content).digest('hex');
    const settings = [
      { default: true, template_type: 'qemu', template_properties: { platform: 'x86_64', ram: 128, adapters: 2 } },
      { name: 'large', template_type: 'qemu', template_properties: { ram: 640 } },
    ];
    const newer = {
      ...{ name: 'Newer device', category: 'firewall', vendor_name: 'Acme', description: 'New.', registry_version: 8, settings },
      images: [
        { filename: 'newer-1.img', version: '1', checksum: '1'.repeat(32), checksum_type: 'md5' },
        { filename: 'newer-2.img', version: '2', checksum, checksum_type: 'md5', filesize: content.length },
      ],
      versions: [
        { name: '1', images: { hda_disk_image: 'newer-1.img' } },
        { name: '2', settings: 'large', images: { hda_disk_image: 'newer-2.img' } },
      ],
    };
    await page
      .locator('input[type=file]')
      .first()
      .setInputFiles(file('newer.gns3a', Buffer.from(JSON.stringify(newer))));
    await dialog.getByText('1 file is missing').waitFor();
    await dialog.locator('input[type=file]').setInputFiles(file('what.bin', content));
    await dialog.getByText('Stored as newer-2.img').waitFor();
    assert.equal(await dialog.getByLabel('Version').inputValue(), '2');
    await dialog.getByRole('button', { name: 'Create template' }).click();
    await dialog.waitFor({ state: 'detached' });
    const made = (await templates()).find(({ name }) => name === 'Newer device');
    assert.deepEqual([made?.ram, made?.adapters, made?.category, made?.hda_disk_image], [640, 2, 'firewall', 'newer-2.img']);
  });

  it('have images that are listed with their users, and deleted when there are none', async () => {
    await page.getByRole('link', { name: 'Images', exact: true }).click();
    const row = (name: string) => page.locator('.image-table tr').filter({ hasText: name });
    await row('router-2.img').getByText(md5sum).waitFor();
    await row('router-2.img').getByText('1 template').waitFor();
    assert.ok(await row('router-2.img').getByRole('button').isDisabled());
    const ios = Buffer.concat([
      Buffer.from('7f454c46010201000000000000000000', 'hex'),
      Buffer.from([0, 2, 0, 8]),
      Buffer.alloc(2000),
    ]);
    await page.locator('input[type=file]').setInputFiles([file('ios.image', ios), file('copy.img', disk)]);
    await page.getByText('Already here as router-2.img').waitFor();
    await row('ios.image').getByText('Dynamips router').waitFor();
    await page.getByRole('button', { name: 'Delete ios.image' }).click();
    await page.getByRole('button', { name: 'Delete image' }).click();
    await row('ios.image').waitFor({ state: 'detached' });
    assert.deepEqual(await client.get('/v2/compute/dynamips/images'), []);
  });

  it('have images that the server downloads from a URL, with progress, until the user cancels', async () => {
    const start = async (name: string) => {
      await page.getByRole('button', { name: 'From a URL…' }).click();
      await dialog.getByLabel('URL').fill(`${source.origin}/half`);
      await dialog.getByLabel('File name').fill(name);
      await dialog.getByRole('button', { name: 'Download', exact: true }).click();
      await dialog.waitFor({ state: 'detached' });
    };
    await page.getByRole('button', { name: 'From a URL…' }).click();
    await dialog.getByLabel('URL').fill('https://other.example/disk.img');
    await dialog.getByText('The server does not download from this host').waitFor();
    assert.equal(await dialog.getByLabel('File name').inputValue(), 'disk.img');
    await picture(page, 'image-from-url');
    await page.keyboard.press('Escape');
    await start('part.img');
    await page.getByText(/The server downloads it… · 33 %/).waitFor();
    await picture(page, 'image-download');
    await page.getByRole('button', { name: 'Cancel part.img' }).click();
    await waitFor(() => source.waiting.size === 0, { what: 'the end of the cancelled download' });
    await start('whole.img');
    await page.getByText(/The server downloads it… · 33 %/).waitFor();
    source.release();
    await page.getByText('Stored as whole.img').waitFor();
    await page.locator('.image-table tr').filter({ hasText: 'whole.img' }).getByText(imageMd5).waitFor();
  });

  it('become nodes when their image is dropped on the canvas, also an unknown one', async () => {
    await page.goto(`${server.url}/projects/${project.id}`);
    await page.locator('svg.canvas').waitFor();
    await drop('renamed.bin', disk.length, 7);
    await dialog.getByText('Already here as router-2.img').waitFor();
    await dialog.getByRole('button', { name: 'Create template' }).click();
    await canvas(page).node('Testrouter-1').waitFor();
    await drop('my system.qcow2', 70_000, 1);
    await dialog.getByText('No appliance knows this image').waitFor();
    await dialog.getByLabel('Memory').fill('128');
    await dialog.getByRole('button', { name: 'Upload and add a node' }).click();
    await canvas(page).node('mysystem-1').waitFor();
    // A file of this name with other content is not replaced: nodes may use it.
    await drop('my system.qcow2', 70_000, 2);
    await dialog.getByRole('button', { name: 'Upload and add a node' }).click();
    await page.getByText('Another file is called my system.qcow2').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    const made = (await templates()).find(({ name }) => name === 'my system');
    assert.deepEqual([made?.ram, made?.hda_disk_image], [128, 'my system.qcow2']);
  });

  it('cause no error in the page', () => assert.deepEqual(problems, []));
});
