/** A compute without the emulators: the palette marks templates that cannot run, and a node's panel lists the missing programs. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { Finding } from '../../src/schema/finding.ts';
import { openTab } from '../support/browser.ts';
import { createNode, createProject, withServer } from '../support/with-server.ts';
import { canvas } from './page-parts.ts';

const empty = await mkdtemp(join(tmpdir(), 'pb-no-programs-'));
after(() => rm(empty, { recursive: true }));
const { server, client } = await withServer({ env: { PATH: empty } });
for (const [template_type, name, fields] of [
  ['dynamips', 'Old router', { platform: 'c3725', image: 'ios.bin' }],
  ['iou', 'New router', { path: 'l3.bin' }],
] as const)
  await client.post('/v2/templates', { template_type, name, compute_id: 'local', ...fields });
const project = await createProject(client, { auto_close: false });
await createNode(client, project, 'ethernet_switch', { name: 'Switch', x: 0, y: 0 });
await createNode(client, project, 'iou', { name: 'IOU', x: 150, y: 0, properties: { path: 'l3.bin' } });
const { page, problems } = await openTab(`${server.url}/projects/${project.id}`);
const panel = page.locator('aside.inspector');

describe('a compute without emulators, in the browser', () => {
  it('lists the nodes that need each missing program', async () => {
    const findings = await client.get<Finding[]>('/v2/computes/local/doctor');
    const typesOf = (name: string) => findings.find(({ what }) => what === name)?.node_types;
    assert.deepEqual(typesOf('socat')?.toSorted(), ['dynamips', 'iou']);
    assert.deepEqual([typesOf('qemu-system-x86_64'), typesOf('KVM')], [['qemu'], ['qemu']]);
    assert.equal(typesOf('tcpdump'), undefined);
  });

  it('names the missing program and its package in the panel of a node, and nothing at a running node', async () => {
    await canvas(page).node('IOU').click();
    await panel.getByText('apt-get install socat', { exact: true }).waitFor();
    assert.equal((await panel.locator('.plain-list strong').allTextContents())[0], 'socat');
    await canvas(page).node('Switch').click();
    await panel.getByRole('heading', { name: 'Switch', exact: true }).waitFor();
    assert.equal(await panel.locator('.plain-list strong').count(), 0);
  });

  it('marks templates that cannot run in the palette, with reason and remedy, and does not hide them', async () => {
    const entry = (name: string) => page.locator('button.template').filter({ hasText: name });
    await page.getByRole('searchbox').hover();
    await entry('Old router').locator('.icon').waitFor();
    assert.equal(await entry('VPCS').locator('.icon').count(), 0);
    assert.equal(await entry('Ethernet switch').locator('.icon').count(), 0);
    // Debian has no package of Dynamips; an IOU image is the user's, but its console needs a program.
    await entry('Old router').locator('.icon').waitFor();
    assert.match(
      (await entry('Old router').getAttribute('title')) ?? '',
      /dynamips: not found.*build it from https:.*apt-get install .*socat/,
    );
    assert.match((await entry('New router').getAttribute('title')) ?? '', /socat: not found.*apt-get install socat$/);
  });

  it('causes no error in the page', () => assert.deepEqual(problems, []));
});
