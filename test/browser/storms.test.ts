/** A loop of switches, as the page says it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Link } from '../../src/schema/link.ts';
import { openTab, picture } from '../support/browser.ts';
import { command, openTelnet, skipHistory } from '../support/telnet.ts';
import { createNode, createProject, end, withServer } from '../support/with-server.ts';

const { server, client } = await withServer();
const project = await createProject(client, { auto_close: false });
const pc = await createNode(client, project, 'vpcs', { name: 'PC1', x: -300, properties: { startup_script: 'ip 10.0.0.1/24\n' } });
const [one, other] = [
  await createNode(client, project, 'ethernet_switch', { name: 'Left', x: -100 }),
  await createNode(client, project, 'ethernet_switch', { name: 'Right', x: 100 }),
];
const link = async (a: object, b: object) => client.post<Link>(`${project.path}/links`, { nodes: [a, b] });
await link(end(pc), end(one, 0, 7));
for (const port of [0, 1]) await link(end(one, 0, port), end(other, 0, port));
const { page } = await openTab(`${server.url}/projects/${project.id}`);
const notice = page.locator('.canvas-notice');

describe('the notice of a storm', () => {
  it('names the link that closes the loop, shows it, suspends it, and leaves with the storm', async () => {
    await page.locator('.link').first().waitFor({ state: 'attached' });
    assert.equal(await notice.count(), 0);
    await client.post(`${project.path}/nodes/start`, {}, 204);
    const telnet = await openTelnet(pc.console as number);
    await skipHistory(telnet);
    // No station answers, so each question is a broadcast.
    await command(telnet, 'ping 10.0.0.9 -c 2', /not reachable|timeout/).finally(() => telnet.close());
    const text = page.getByText(/Left e\d – Right e\d closes it/);
    await text.waitFor();
    await picture(page, 'storm');
    await notice.getByRole('button', { name: 'Show' }).click();
    await page.locator('.link.selected').waitFor({ state: 'attached' });
    await notice.getByRole('button', { name: 'Suspend' }).click();
    await notice.waitFor({ state: 'detached' });
    const links = await client.get<Link[]>(`${project.path}/links`);
    assert.equal(links.filter(({ suspend }) => suspend).length, 1);
  });
});
