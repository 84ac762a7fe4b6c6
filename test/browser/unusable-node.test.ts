/** A node that cannot be used says why wherever the page shows it. */
import assert from 'node:assert/strict';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { openTab } from '../support/browser.ts';
import { createNode, createProject, withServer } from '../support/with-server.ts';
import { canvas } from './page-parts.ts';

const { server, client } = await withServer();

test('a node without its image, on the canvas, in the list and in its panel', async () => {
  const project = await createProject(client, { auto_close: false });
  assert.equal((await client.send('POST /v2/compute/qemu/images/gone.img', { raw: Buffer.alloc(1024 * 1024) })).status, 204);
  await createNode(client, project, 'qemu', { name: 'VM', properties: { hda_disk_image: 'gone.img' } });
  await client.post(`${project.path}/close`, {}, 204);
  const image = join(server.dataDir, 'images', 'QEMU', 'gone.img');
  await rename(image, `${image}.away`);
  await client.post(`${project.path}/open`);
  const { page, problems } = await openTab(`${server.url}/projects/${project.id}`);
  const panel = page.locator('aside.inspector');
  await panel.locator('.node-list .dot.failed').waitFor();
  assert.match((await canvas(page).node('VM').getAttribute('aria-label')) ?? '', /Not usable: .*gone\.img/);
  await canvas(page).node('VM').click();
  await panel.locator('.notice', { hasText: /Not usable: .*gone\.img/ }).waitFor();
  await rename(`${image}.away`, image);
  await panel.getByRole('button', { name: 'Start', exact: true }).click();
  await page.locator('.node.started').waitFor();
  assert.equal(await panel.locator('.notice', { hasText: 'Not usable' }).count(), 0);
  assert.deepEqual(problems, []);
});
