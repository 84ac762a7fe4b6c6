/** A lab from the first page to the last packet without a mouse: nothing here points, clicks or sets the focus. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Link } from '../../src/schema/link.ts';
import { openTab, picture } from '../support/browser.ts';
import { waitFor } from '../support/wait-for.ts';
import { type NodeBody, withServer } from '../support/with-server.ts';
import { canvas, consoleText, type } from './page-parts.ts';

const { server, client } = await withServer();
const { page, problems } = await openTab(server.url);
const { keyboard } = page;
const nameOfFocused =
  "(({ ariaLabel, labels, textContent }) => (ariaLabel ?? labels?.[0]?.textContent ?? textContent ?? '').trim().slice(0, 60))(document.activeElement)";
const selectedName = "document.querySelector('.node.selected')?.getAttribute('aria-label') ?? ''";
const press = async (...keys: string[]) => {
  for (const key of keys) await keyboard.press(key);
};
let path = '';
const nodes = () => client.get<NodeBody[]>(`${path}/nodes`);
const links = () => client.get<Link[]>(`${path}/links`);

describe('a lab by keyboard alone', () => {
  it('starts with a new project', async () => {
    await tabTo('New project');
    await press('Enter');
    await type(page, 'Keys');
    await page.waitForURL(/\/projects\/[\w-]{36}$/);
    path = `/v2${new URL(page.url()).pathname}`;
    await page.getByText('0 nodes').waitFor();
    await focusIsOn('svg.canvas');
  });

  it('gets two PCs and a switch from the palette', async () => {
    await press('/');
    await focusIsOn('.palette input');
    await keyboard.type('vpcs');
    await press('Enter');
    await canvas(page).node('PC1').waitFor();
    await press('Enter');
    await canvas(page).node('PC2').waitFor();
    await press('Control+a');
    await keyboard.type('ethernet sw');
    await press('ArrowDown');
    await focusIsOn('.template');
    await press('Enter');
    await waitFor(async () => (await nodes()).length === 3, { what: 'three nodes' });
    await page.locator('.node').nth(2).waitFor();
    await press('Control+F6');
    await focusIsOn('svg.canvas');
  });

  it('leaves link mode with Escape, right after a port is chosen and while the link is being created', async () => {
    const gate = Promise.withResolvers<void>();
    await page.route(`**${path}/links`, async (route) => {
      await gate.promise;
      await route.continue();
    });
    await select('PC1');
    await press('l');
    await page.getByText('PC1 Ethernet0 →').waitFor();
    await select('Switch1');
    await press('l');
    await focusIsOn('.ports button');
    await page.evaluate(chooseAndEscape);
    await page.locator('.tool-hint').waitFor({ state: 'detached' });
    gate.resolve();
    await page.locator('.link').waitFor({ state: 'attached' });
    assert.equal(await page.locator('.tool-hint').count(), 0);
    await page.unroute(`**${path}/links`);
    const [link] = await links();
    await client.delete(`${path}/links/${link?.link_id}`);
    await page.locator('.link').waitFor({ state: 'detached' });
  });

  it('is wired: a node, L, the next node, L', async () => {
    for (const name of ['PC1', 'PC2']) {
      await select(name);
      await press('l');
      await page.getByText(`${name} Ethernet0 →`).waitFor();
      await select('Switch1');
      await press('l');
      await focusIsOn('.ports button');
      await press('Enter');
      await waitFor(async () => (await links()).some((link) => hasEnd(link, name)), { what: `the link of ${name}` });
    }
    await press('Escape');
    await page.locator('.tool-hint').waitFor({ state: 'detached' });
    await page.locator('.link').nth(1).waitFor({ state: 'attached' });
    await focusIsOn('svg.canvas');
  });

  it('is started, and pings from a console; a key returns from the console to the page', async () => {
    await press('Alt+Shift+S');
    await page.locator('.node.started').nth(2).waitFor();
    for (const number of [2, 1]) {
      await select(`PC${number}`);
      await press('Enter');
      await focusIsOn('.console:not([hidden]) textarea');
      await type(page, `ip 10.0.0.${number}/24`);
      await consoleText(page, new RegExp(`PC\\d : 10\\.0\\.0\\.${number}`));
      if (number === 2) await press('Control+F6');
    }
    await type(page, 'ping 10.0.0.2 -c 2 -w 20000');
    await consoleText(page, /icmp_seq=2 ttl=64/);
    await press('Control+F6');
    await focusIsOn('svg.canvas');
  });

  it('gets a delay on a link, and shows it', async () => {
    await select('PC1');
    await press('e', 'F6');
    await focusIsOn('.inspector *');
    await page.getByLabel('Latency').first().waitFor();
    await tabTo('Latency, each way');
    await keyboard.type('150');
    await waitFor(async () => (await links()).some(({ filters }) => String(filters.delay) === '150'), { what: 'the delay' });
    await page.locator('.link.impaired').waitFor({ state: 'attached' });
    await press('F6');
    await focusIsOn('.console:not([hidden]) textarea');
    await type(page, 'ping 10.0.0.2 -c 2 -w 20000');
    // 150 ms in each direction, plus the delay of a busy machine.
    await consoleText(page, /icmp_seq=2 ttl=64 time=([3-9]\d\d|\d{4,})\./);
    await press('Control+F6');
  });

  it('is captured, and arrow keys move through the packets', async () => {
    await press('w');
    await focusIsOn('dialog [type=submit]');
    await press('Enter');
    await page.getByText('Live:').waitFor();
    await press('Control+F6');
    await select('PC1');
    await press('c');
    await focusIsOn('.console:not([hidden]) textarea');
    await type(page, 'ping 10.0.0.2 -c 3 -w 20000');
    await consoleText(page, /icmp_seq=3 ttl=64/);
    await press('Control+F6', 'e', 'w');
    await page.getByRole('row').filter({ hasText: 'Echo reply' }).first().waitFor();
    await tabTo('Packets');
    await press('End', 'Home');
    await page.getByRole('region', { name: 'Packet 1', exact: true }).waitFor();
    await press('Control+F6', 'Shift+W');
    await page.getByText('Ended:').waitFor();
    await picture(page, 'keyboard');
  });

  it('is deleted, undone and redone', async () => {
    await select('PC2');
    await press('Delete');
    await focusIsOn('dialog [type=submit]');
    await press('Enter');
    await canvas(page).node('PC2').waitFor({ state: 'detached' });
    await focusIsOn('svg.canvas');
    await press('Control+z');
    await canvas(page).node('PC2').waitFor();
    await page.locator('.link').nth(1).waitFor({ state: 'attached' });
    await press('Control+Shift+Z');
    await canvas(page).node('PC2').waitFor({ state: 'detached' });
  });

  it('has a menu of the selection, and restores the focus', async () => {
    await select('PC1');
    await press('m');
    await focusIsOn('.menu button');
    await press('ArrowDown', 'Escape');
    await focusIsOn('svg.canvas');
    await press('?');
    await page.getByRole('dialog', { name: 'Keys and help' }).waitFor();
    await press('Escape');
    await focusIsOn('svg.canvas');
  });

  it('lists all its keys', async () => {
    await press('?');
    const dialog = page.getByRole('dialog', { name: 'Keys and help' });
    await dialog.waitFor();
    for (const key of ['F6', 'Ctrl F6', 'E', 'M', '/', 'L', 'N', 'W', 'Del', '?', 'Alt Shift S', 'Ctrl Z'])
      assert.equal(await dialog.locator('kbd').getByText(key, { exact: true }).count(), 1, key);
    await press('Escape');
  });

  it('causes no error in the page', () => assert.deepEqual(problems, []));

  it('runs on whatever words are typed at it: keys of letters start and stop nothing', async () => {
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.method() !== 'GET') sent.push(`${request.method()} ${new URL(request.url()).pathname}`);
    });
    const words =
      `ping reload xterm exit stop start show ip route reset restart suspend pause run sh bash ssh scp top ps kill vi less
      more cat grep sed awk sort tail head ls cd pwd mkdir rm cp mv touch chmod find tar gzip curl wget apt yum dnf systemctl service
      enable configure terminal interface shutdown no write memory copy running-config startup-config hostname router ospf bgp vlan
      trunk spanning-tree access-list debug undebug traceroute telnet arp clear save quit end conf wr sysctl ifconfig iptables tcpdump
      dig nslookup host netstat ss nmap python perl sleep echo export alias history man help who uptime date df du mount free PASS XSPR`
        .trim()
        .split(/\s+/);
    assert.ok(words.length >= 100);
    for (const word of words) {
      await select('PC1');
      await page.evaluate("document.querySelector('svg.canvas').focus()");
      await keyboard.type(word);
      await press('Escape');
    }
    page.removeAllListeners('request');
    assert.deepEqual(
      sent.filter((line) => /(start|stop|suspend|reload)$|\/links\//.test(line)),
      [],
    );
    assert.ok((await nodes()).every(({ status }) => status === 'started'));
  });
});

/** Escape in the task of the choice: the menu is removed, and no frame has been drawn since. */
const chooseAndEscape = `(async () => {
  document.activeElement.click();
  for (let turn = 0; turn < 1000 && document.querySelector('.ports'); turn += 1) await undefined;
  document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true }));
})()`;

const names = new Map<string, string>();
const hasEnd = ({ nodes: ends }: Link, name: string) => ends.some(({ node_id }) => names.get(node_id) === name);

/** Cycles through the items until this one is selected. */
async function select(name: string): Promise<void> {
  for (const node of await nodes()) names.set(node.node_id, node.name);
  await waitFor(
    async () => {
      if ((await page.evaluate<string>(selectedName)).startsWith(name)) return true;
      await press('n');
      return false;
    },
    { what: `the selection of ${name}`, everyMs: 50 },
  );
}

/** Presses Tab until the control has the focus; each stop shows a focus mark. */
async function tabTo(name: string): Promise<void> {
  const labels: string[] = [];
  for (let stop = 0; stop < 80; stop += 1) {
    await press('Tab');
    const label = await page.evaluate<string>(nameOfFocused);
    labels.push(label);
    assert.ok(await isSeen(), `the focus is seen on “${label}”`);
    if (label === name) return;
  }
  assert.fail(`${name} cannot be reached: ${labels.join(', ')}`);
}

async function focusIsOn(selector: string): Promise<void> {
  const is = () => page.evaluate<boolean>(`document.activeElement?.matches(${JSON.stringify(selector)}) ?? false`);
  await waitFor(is, { what: `the focus on ${selector}` }).catch(async (cause: unknown) => {
    throw new Error(`the focus is on ${await page.evaluate<string>('document.activeElement?.outerHTML.slice(0, 300)')}`, { cause });
  });
  assert.ok(await isSeen(), `the focus is seen on ${selector}`);
}

/** The cursor of a console is its focus mark. */
function isSeen(): Promise<boolean> {
  return page.evaluate<boolean>(`(() => {
    const element = document.activeElement;
    if (element === document.body) return true;
    if (element.closest('.terminal')) return element.closest('.terminal').classList.contains('focus');
    // The focus mark of a table is on its scroll container.
    const marked = [element, element.parentElement].some((one) => getComputedStyle(one).outlineStyle !== 'none');
    return element.matches(':focus-visible') && marked;
  })()`);
}
