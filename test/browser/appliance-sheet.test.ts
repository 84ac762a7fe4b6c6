/** Appliances over a lab: the sheet leaves the lab where it is, names each file once, and ends with a node. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { openTab, picture } from '../support/browser.ts';
import { createNode, createProject, withServer } from '../support/with-server.ts';
import { canvas } from './page-parts.ts';

const { server, client } = await withServer();
const project = await createProject(client, { name: 'Lab', auto_close: false });
await createNode(client, project, 'vpcs', { name: 'PC1', x: -200, y: 0 });
const disk = Buffer.alloc(70_000, 3);
const appliance = {
  ...{ name: 'Plain router', category: 'router', vendor_name: 'Acme', description: 'Has no symbol.' },
  qemu: { arch: 'x86_64', ram: 64, adapters: 2, adapter_type: 'e1000', console_type: 'telnet' },
  images: [{ filename: 'plain-1.img', version: '1', md5sum: createHash('md5').update(disk).digest('hex') }],
  versions: [{ name: '1', images: { hda_disk_image: 'plain-1.img' } }],
};
const address = `${server.url}/projects/${project.id}`;
const { page, problems } = await openTab(address);
const sheet = page.getByRole('dialog', { name: 'Appliances' });
const wizard = page.getByRole('dialog', { name: 'New template: Plain router' });
const openSheet = async () => {
  await page.getByRole('button', { name: 'More appliances' }).click();
  await sheet.locator('.appliance-card').nth(2).waitFor();
};
const widthOf = async (selector: string) => (await page.locator(selector).boundingBox())?.width ?? 0;

describe('the gallery of appliances, in a lab', () => {
  it('is a sheet over the lab, and Escape leads back to it', async () => {
    await canvas(page).node('PC1').waitFor();
    await openSheet();
    assert.equal(page.url(), address);
    await picture(page, 'appliance-sheet');
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
    await canvas(page).node('PC1').waitFor();
  });

  it('gives the text of an appliance without a symbol its room', async () => {
    await openSheet();
    const file = { name: 'plain.gns3a', mimeType: '', buffer: Buffer.from(JSON.stringify(appliance)) };
    await sheet.locator('input[type=file]').setInputFiles(file);
    await wizard.getByText('Has no symbol.').waitFor();
    assert.ok((await widthOf('.appliance-facts > div')) > 300, `the text is ${await widthOf('.appliance-facts > div')} px wide`);
  });

  it('names a file once, also when it has arrived under another name', async () => {
    const named = wizard.locator('li').filter({ hasText: 'plain-1.img' });
    assert.equal(await named.count(), 1);
    await wizard.locator('input[type=file]').setInputFiles({ name: 'download (1).bin', mimeType: '', buffer: disk });
    await wizard.getByText('Stored as plain-1.img').waitFor();
    await picture(page, 'appliance-stored');
    assert.equal(await named.count(), 1);
    assert.equal(await wizard.getByText('plain-1.img', { exact: true }).count(), 1);
  });

  it('ends with a node of the template on the canvas', async () => {
    await wizard.getByRole('button', { name: 'Create template' }).click();
    await canvas(page).node('Plainrouter-1').waitFor();
    await page.locator('dialog').first().waitFor({ state: 'detached' });
    assert.equal(page.url(), address);
    await page.locator('.palette').getByText('Plain router').waitFor();
    await picture(page, 'appliance-added');
  });

  it('is a view of its own, too, with a way back to the lab', async () => {
    await page.getByRole('link', { name: 'Templates and images' }).click();
    await page.getByRole('link', { name: 'Appliances' }).click();
    await page.locator('.appliance-card').nth(2).waitFor();
    await page.getByRole('link', { name: 'Back to Lab' }).click();
    await page.waitForURL(address);
    await canvas(page).node('PC1').waitFor();
  });

  it('causes no error in the page', () => assert.deepEqual(problems, []));
});
