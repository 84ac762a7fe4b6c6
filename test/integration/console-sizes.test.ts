/** Sizes of terminals, with real shells: of a container that several viewers share, and behind the serial line of a machine. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ensureGuest } from '../../demo/guest/guest.ts';
import { machineProperties } from '../../demo/topology.ts';
import { windowSizeMessage } from '../../src/lib/telnet.ts';
import { DockerEngine, noEngine } from '../support/docker-engine.ts';
import { openTelnet, withoutTelnet } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { openWebSocket, type WebSocketClient } from '../support/web-socket.ts';
import { createNode, createProject, type NodeBody, type ProjectHandle, withServer } from '../support/with-server.ts';

// The module reads the size of text that the browser keeps.
Object.assign(globalThis, { localStorage: { getItem: () => null, setItem: () => undefined } });
const { sizeCommand } = await import('../../web/state/terminals.ts');

const limitMs = 300_000;
const noContainers = await noEngine();
const engine = noContainers === undefined ? await DockerEngine.start() : undefined;
after(() => engine?.stop());
const { server, client } = await withServer({ config: { Docker: { socket_path: engine?.socket ?? '/nowhere/docker.sock' } } });

/** Number of the next question. All viewers see the answers to each of them, so each ends by a word of its own. */
let question = 0;

/** A viewer as the page is one: the WebSocket of a console, on which the size of its window is sent. */
class Viewer {
  readonly #socket: WebSocketClient;

  private constructor(socket: WebSocketClient) {
    this.#socket = socket;
  }

  static async open(project: ProjectHandle, node: NodeBody, way: 'console' | 'aux' = 'console'): Promise<Viewer> {
    return new Viewer(await openWebSocket(`${server.url}${project.path}/nodes/${node.node_id}/${way}/ws`));
  }

  window(columns: number, rows: number): void {
    this.#socket.send(windowSizeMessage(columns, rows));
  }

  /** Sends what was typed, and returns all output from then on once it matches. */
  async types(text: string, shows: RegExp): Promise<string> {
    const from = this.#text().length;
    this.#socket.send(text);
    return waitFor(
      () => {
        const shown = this.#text().slice(from);
        return shows.test(shown) && shown;
      },
      { what: `${shows} after ${JSON.stringify(text)}`, limitMs: 20_000 },
    );
  }

  /** Returns rows and columns, as the shell's terminal has them. */
  async size(): Promise<string | undefined> {
    question += 1;
    const shown = await this.types(`stty size; echo en""d${question}\r`, new RegExp(`\\bend${question}\r`));
    const sizes = [...shown.slice(0, shown.indexOf(`end${question}\r`)).matchAll(/^(\d+ \d+)\r*$/gm)];
    return sizes.at(-1)?.[1];
  }

  async until(size: string): Promise<void> {
    await waitFor(async () => (await this.size()) === size, { what: `a terminal of ${size}` });
  }

  close(): void {
    this.#socket.close();
  }

  #text(): string {
    return withoutTelnet(Buffer.concat(this.#socket.messages.map((one) => Buffer.from(one)))).toString('latin1');
  }
}

async function startedNode(project: ProjectHandle, type: string, properties: object): Promise<NodeBody> {
  const node = await createNode(client, project, type, { properties, console_type: 'telnet' });
  await client.post(`${project.path}/nodes/${node.node_id}/start`, {}, 200);
  return client.get<NodeBody>(`${project.path}/nodes/${node.node_id}`);
}

for (const way of ['console', 'aux'] as const)
  test(`the ${way} of a container is as large as the smallest window that shows it`, {
    skip: noContainers,
    timeout: limitMs,
  }, async () => {
    const project = await createProject(client, { auto_close: false });
    const node = await startedNode(project, 'docker', { image: 'pb-test' });
    const [large, small, silent] = [
      await Viewer.open(project, node, way),
      await Viewer.open(project, node, way),
      await Viewer.open(project, node, way),
    ];
    large.window(200, 60);
    await large.until('60 200');
    small.window(90, 70);
    await large.until('60 90');
    assert.equal(await silent.size(), '60 90', 'a viewer without a window counts for nothing');
    small.window(300, 20);
    await large.until('20 200');
    // A window of 255 columns has a byte that telnet doubles.
    large.window(255, 24);
    await large.until('20 255');
    small.close();
    await large.until('24 255');
    // The terminal of a container that is started again has the size of the windows that are open.
    await client.post(`${project.path}/nodes/${node.node_id}/stop`, {}, 200);
    await client.post(`${project.path}/nodes/${node.node_id}/start`, {}, 200);
    const again = await Viewer.open(project, node, way);
    again.window(111, 41);
    await again.until('41 111');
    // A server that was killed finds its containers again, and gives them the size of the next viewer.
    await server.kill9();
    await server.restart();
    const next = await Viewer.open(project, node, way);
    next.window(122, 42);
    await next.until('42 122');
    for (const viewer of [large, silent, again, next]) viewer.close();
    await client.delete(project.path);
  });

test('a telnet client and a page share the terminal of a container, and programs there are notified of each size', {
  skip: noContainers,
  timeout: limitMs,
}, async () => {
  const project = await createProject(client, { auto_close: false });
  const node = await startedNode(project, 'docker', { image: 'pb-test' });
  const page = await Viewer.open(project, node);
  page.window(180, 50);
  await page.until('50 180');
  const says = (columns: number, rows: number) => Uint8Array.of(255, 250, 31, 0, columns, 0, rows, 255, 240);
  const telnet = await openTelnet(node.console as number);
  telnet.socket.write(Uint8Array.of(255, 251, 31));
  telnet.socket.write(says(101, 61));
  await page.until('50 101');
  telnet.socket.write(says(150, 31));
  await page.until('31 150');
  const program = `sh -c 'trap "stty size; echo win""ch; exit" WINCH; echo rea""dy; while :; do sleep 0.2; done'\r`;
  await page.types(program, /\bready/);
  const seen = page.types('', /27 77\s+winch/);
  telnet.socket.write(says(77, 27));
  await seen;
  telnet.close();
  await page.until('50 180');
  page.close();
  await client.delete(project.path);
});

test('a shell behind a serial line gets a size when it is asked for', { timeout: limitMs }, async () => {
  const project = await createProject(client);
  const guest = await ensureGuest();
  const node = await startedNode(project, 'qemu', machineProperties(guest, 'VM1', ['10.0.0.1/24']));
  const viewer = await Viewer.open(project, node);
  viewer.window(132, 43);
  await waitFor(() => viewer.types('echo re""ady\r', /\bready\r/), { what: 'the shell of the guest', limitMs });
  assert.notEqual(await viewer.size(), '43 132', 'a serial line carries no size');
  await viewer.types(`${sizeCommand({ size: () => ({ columns: 132, rows: 43 }) })}echo se""t\r`, /\bset\r/);
  assert.equal(await viewer.size(), '43 132');
  viewer.close();
  await client.delete(project.path);
});
