/** The activity of a project: what was changed, from what to what, and by whom. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Link } from '../../src/schema/link.ts';
import { openTab, picture } from '../support/browser.ts';
import { createNode, createProject, end, withServer } from '../support/with-server.ts';
import { canvas } from './page-parts.ts';

const { server, client } = await withServer();
const project = await createProject(client, { name: 'Lab', auto_close: false });
const one = await createNode(client, project, 'vpcs', { name: 'PC1', x: -150, y: 0 });
const other = await createNode(client, project, 'qemu', { name: 'VM', x: 150, y: 0 });
const { link_id } = await client.post<Link>(`${project.path}/links`, { nodes: [end(one), end(other)] });
const change = async (path: string, body: object, by = 'Ann') => {
  const { status } = await client.send(`PUT ${project.path}${path}`, { body, headers: { 'x-patchbay-client': by } });
  assert.ok(status < 300, `${path}: ${status}`);
};
const { page, problems } = await openTab(`${server.url}/projects/${project.id}`);
const step = (words: string) => page.locator('.activity-step').filter({ has: page.locator('strong', { hasText: words }) });

describe('the activity of a project', () => {
  it('says what was changed, from what to what', async () => {
    await change(`/links/${link_id}`, { filters: { delay: [20, 0] } });
    await change(`/links/${link_id}`, { filters: { delay: [40, 5], packet_loss: [2] } });
    await change(`/nodes/${other.node_id}`, { properties: { ram: 96 } });
    await change(`/nodes/${other.node_id}`, { name: 'Edge' }, 'Bea');
    await change(`/nodes/${one.node_id}`, { x: -180, y: 40 });
    await change(`/links/${link_id}`, { suspend: true });
    await canvas(page).node('Edge').waitFor();
    await page.getByRole('button', { name: 'Activity' }).click();
    await step('Renamed Edge').getByText('Name: VM → Edge').waitFor();
    await picture(page, 'activity');
    await step('Renamed Edge').getByText('by Bea').waitFor();
    await step('Changed VM')
      .getByText(/^Memory: \d+ → 96$/)
      .waitFor();
    const impaired = step('Changed PC1 – Edge');
    await impaired.first().getByText('Latency, each way: 20 ms → 40 ms, 5 ms jitter').waitFor();
    await impaired.first().getByText('Packet loss: none → 2 %').waitFor();
    await step('Moved PC1').getByText('by Ann').waitFor();
    await step('Suspended PC1 – Edge').getByText('by Ann').waitFor();
    await page.keyboard.press('Escape');
  });

  it('names the person at another page by the own name of that page, else its browser', async () => {
    const move = async () => {
      await canvas(page).node('PC1').click();
      await page.keyboard.press('ArrowRight');
      await page.getByRole('heading', { name: 'PC1' }).waitFor();
    };
    await move();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Activity' }).click();
    await step('Moved PC1')
      .first()
      .getByText(/by someone in Chrome/)
      .waitFor();
    await page.evaluate("localStorage.setItem('patchbay.ownName', 'Ада')");
    await page.reload();
    await move();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Activity' }).click();
    await step('Moved PC1').first().getByText('by Ада').waitFor();
  });

  it('causes no error in the page', () => assert.deepEqual(problems, []));
});
