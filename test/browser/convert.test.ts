/** A machine of VirtualBox in the page: why it does not start, and how it becomes a machine of QEMU with the disk that is uploaded. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { findProgram } from '../../src/emulators/host/find-program.ts';
import { runTool } from '../../src/process/tool.ts';
import { openTab } from '../support/browser.ts';
import { createNode, createProject, type NodeBody, withServer } from '../support/with-server.ts';
import { canvas } from './page-parts.ts';

const missing = (await findProgram('qemu-img')) === undefined || (await findProgram('qemu-system-x86_64')) === undefined;
const folder = await mkdtemp(join(tmpdir(), 'pb-vdi-'));
after(() => rm(folder, { recursive: true }));

describe('a machine of VirtualBox, in the browser', {
  skip: missing && 'qemu-img and qemu-system-x86_64 are not installed',
}, async () => {
  const { server, client } = await withServer();
  const disk = join(folder, 'web.vdi');
  const project = await createProject(client, { auto_close: false });
  const properties = { vmname: 'web', adapters: 2, ram: 64 };
  await createNode(client, project, 'virtualbox', { name: 'Web', x: 0, y: 0, properties });
  const { page, problems } = await openTab(`${server.url}/projects/${project.id}`);

  it('is converted to a machine of QEMU with an uploaded disk', async () => {
    const { code, reason } = await runTool('qemu-img', ['create', '-f', 'vdi', disk, '1M'], { timeoutMs: 60_000 });
    assert.equal(code, 0, reason);
    await canvas(page).node('Web').click();
    await page.getByText('This server does not drive VirtualBox').waitFor();
    await page.getByRole('button', { name: 'Convert to a QEMU node…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Convert Web to QEMU' });
    const convert = dialog.getByRole('button', { name: 'Convert', exact: true });
    assert.equal(await convert.isDisabled(), true, 'without a disk');
    await dialog.locator('input[type=file]').setInputFiles(disk);
    await dialog.getByLabel('Disk 2').waitFor();
    assert.equal(await dialog.getByLabel('Disk 1').inputValue(), 'web.vdi');
    await convert.click();
    await dialog.waitFor({ state: 'detached' });
    const nodes = await client.get<NodeBody[]>(`${project.path}/nodes`);
    const made = nodes.find(({ node_type }) => node_type === 'qemu');
    assert.deepEqual([made?.properties.hda_disk_image, made?.properties.adapters, made?.properties.ram], ['web.qcow2', 2, 64]);
    await canvas(page).node(String(made?.name)).waitFor();
    // The image of the new node is in the way of a second one: the dialog says so, and stays.
    await canvas(page).node('Web').click();
    await page.getByRole('button', { name: 'Convert to a QEMU node…' }).click();
    await dialog.getByLabel('Disk 1').selectOption('web.vdi');
    await convert.click();
    await dialog
      .getByRole('alert')
      .getByText(/web\.qcow2.* exists already/)
      .waitFor();
    await page.keyboard.press('Escape');
  });

  it('a template of one is converted in the list of templates', async () => {
    const raw = await readFile(disk);
    await client.send('POST /v2/compute/qemu/images/edge.vdi', { raw });
    await client.post('/v2/templates', { name: 'Edge', template_type: 'virtualbox', compute_id: 'local', vmname: 'edge' });
    await page.goto(`${server.url}/templates`);
    await page.getByRole('button', { name: 'Actions for Edge', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Convert to QEMU…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Convert Edge to QEMU' });
    await dialog.getByLabel('Disk 1').selectOption('edge.vdi');
    await dialog.getByRole('button', { name: 'Convert', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Actions for Edge (QEMU)' }).waitFor();
  });

  it('causes no error in the page', () =>
    assert.deepEqual(
      problems.filter((text) => !/409/.test(text)),
      [],
    ));
});
