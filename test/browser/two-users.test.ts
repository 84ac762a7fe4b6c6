/** Two users who change parts of one thing: both changes stay. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '../../src/schema/node.ts';
import type { Template } from '../../src/schema/template.ts';
import { openTab } from '../support/browser.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, withServer } from '../support/with-server.ts';
import { canvas } from './page-parts.ts';

interface Port {
  readonly port_number: number;
  readonly vlan: number;
}

const { server, client } = await withServer();
const project = await createProject(client, { auto_close: false });
const node = await createNode(client, project, 'ethernet_switch', { name: 'Switch1', x: 0, y: 0 });
const nodePath = `${project.path}/nodes/${node.node_id}`;
const { page, problems } = await openTab(`${server.url}/projects/${project.id}`);
const settings = page.locator('.inspector details', { has: page.getByText('Settings', { exact: true }) });

describe('an edit that is not sent yet', () => {
  it('of a node’s ports keeps the ports that another user changes meanwhile', async () => {
    await canvas(page).node('Switch1').click();
    await settings.getByText('Settings', { exact: true }).click();
    const vlans = settings.getByRole('spinbutton', { name: 'VLAN' });
    await vlans.first().fill('10');
    await vlans.first().blur();
    await settings.getByRole('button', { name: 'Apply' }).waitFor();
    const { ports_mapping: ports } = node.properties as unknown as { ports_mapping: Port[] };
    const changed = ports.map((port) => (port.port_number === 1 ? { ...port, vlan: 20 } : port));
    await client.put(nodePath, { properties: { ports_mapping: changed } });
    await waitFor(async () => (await vlans.nth(1).inputValue()) === '20', { what: 'the VLAN of the other user' });
    assert.equal(await vlans.first().inputValue(), '10');
    await settings.getByRole('button', { name: 'Apply' }).click();
    await settings.getByRole('button', { name: 'Apply' }).waitFor({ state: 'detached' });
    const { properties } = await client.get<Node>(nodePath);
    assert.deepEqual(
      (properties as unknown as { ports_mapping: Port[] }).ports_mapping.map(({ vlan }) => vlan),
      ports.map(({ port_number }) => [10, 20][port_number] ?? 1),
    );
  });

  it('of a template’s ports keeps those of another user, too', async () => {
    const body = { name: 'Twin', template_type: 'ethernet_switch', compute_id: 'local' };
    const template = await client.post<Template & { ports_mapping: Port[] }>('/v2/templates', body);
    await page.goto(`${server.url}/templates`);
    await page.getByRole('button', { name: 'Twin' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Template “Twin”' });
    const vlans = dialog.getByRole('spinbutton', { name: 'VLAN' });
    await vlans.first().fill('10');
    await vlans.first().blur();
    const changed = template.ports_mapping.map((port) => (port.port_number === 1 ? { ...port, vlan: 20 } : port));
    await client.put(`/v2/templates/${template.template_id}`, { ports_mapping: changed });
    await waitFor(async () => (await vlans.nth(1).inputValue()) === '20', { what: 'the VLAN of the other user' });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const after = await client.get<{ ports_mapping: Port[] }>(`/v2/templates/${template.template_id}`);
    assert.deepEqual(
      after.ports_mapping.map(({ vlan }) => vlan),
      template.ports_mapping.map(({ port_number }) => [10, 20][port_number] ?? 1),
    );
  });

  it('causes no errors in the page', () => assert.deepEqual(problems, []));
});
