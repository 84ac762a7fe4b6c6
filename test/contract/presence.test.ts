/**
 * Users who have a project open: sessions on its notification stream, for listeners that request them; and clients that send
 * anything.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { presenceLimits } from '../../src/schema/presence-limits.ts';
import { type Listener, listen, type Notice } from '../support/notices.ts';
import { waitFor } from '../support/wait-for.ts';
import { createProject, withServer } from '../support/with-server.ts';

interface Session {
  readonly number: number;
  readonly name: string;
  readonly selected: readonly string[];
  readonly pointer?: { readonly x: number; readonly y: number };
  readonly view?: { readonly width: number };
}

const { server, client } = await withServer();
const project = await createProject(client, { auto_close: false });
const address = `${server.url}${project.path}/notifications/ws`;

const sessionsIn = ({ event }: Notice) => event.sessions as readonly Session[];

/** A session, and its number. */
async function enter(url = `${address}?presence=true`): Promise<Listener & { readonly number: number; readonly first: Notice }> {
  const listener = await listen(url);
  const first = await listener.find(({ action }) => action === 'presence.listed', 'the list of sessions');
  return Object.assign(listener, { number: Number(first.event.number), first });
}

const say = ({ socket }: Listener, state: unknown) => socket.send(JSON.stringify(state));
/** The state of a session as another one sees it. */
const sees = (by: Listener, accepts: (session: Session) => boolean, what: string) =>
  by.find((notice) => notice.action === 'presence.changed' && sessionsIn(notice).some(accepts), what);
const seesLeave = (by: Listener, number: number) =>
  by.find(({ action, event }) => action === 'presence.changed' && (event.left as number[]).includes(number), `${number} leaving`);

describe('the sessions of a project', () => {
  it('see each other enter, select, change their names and leave; other listeners are sent nothing of it', async () => {
    const plain = await listen(address);
    const one = await enter();
    assert.deepEqual(one.first.event, { number: 1, sessions: [{ number: 1, name: 'Guest 1', selected: [] }] });
    const two = await enter();
    assert.deepEqual(
      sessionsIn(two.first).map(({ name }) => name),
      ['Guest 1', 'Guest 2'],
    );
    await sees(one, ({ number }) => number === 2, 'the second session');
    const ids = [randomUUID(), randomUUID()];
    say(two, { name: 'Ada', selected: ids });
    await sees(one, ({ number, name, selected }) => number === 2 && name === 'Ada' && selected[1] === ids[1], 'a selection');
    const view = { x: -20, y: 10, width: 800, height: 600 };
    say(two, { selected: [], pointer: { x: 1.5, y: -2 }, view });
    await sees(one, ({ pointer, view: seen }) => pointer?.x === 1.5 && seen?.width === 800, 'a pointer and a view');
    say(two, { selected: [] });
    const isKept = ({ name, selected, pointer }: Session) => name === 'Ada' && selected.length === 0 && pointer === undefined;
    const kept = await sees(one, isKept, 'the name kept');
    assert.deepEqual(sessionsIn(kept).at(-1), { number: 2, name: 'Ada', selected: [] }, 'a state is whole');
    await two.close();
    await seesLeave(one, 2);
    const three = await enter();
    assert.equal(three.number, 2);
    assert.deepEqual(
      sessionsIn(three.first).map(({ name }) => name),
      ['Guest 1', 'Guest 2'],
    );
    await Promise.all([one.close(), three.close()]);
    assert.deepEqual(plain.notices(), []);
    await plain.close();
  });

  it('are no more than their limit; one above it is a plain listener', async () => {
    const all = await Promise.all(Array.from({ length: presenceLimits.sessions }, () => enter()));
    const one = await listen(`${address}?presence=true`);
    await client.post(`${project.path}/drawings`, { svg: '<svg/>' });
    const first = await one.find(() => true, 'any notice');
    assert.equal(first.action, 'drawing.created');
    say(one, { selected: [randomUUID()] });
    const [last, ...others] = all.toReversed();
    assert.ok(last && others[0]);
    await last.close();
    await seesLeave(others[0], last.number);
    await Promise.all([one, ...others].map((session) => session.close()));
    const again = await enter();
    assert.equal(sessionsIn(again.first).length, 1);
    await again.close();
  });

  it('ends the connection of a session that sends anything else, and no other one', async () => {
    const watcher = await enter();
    const id = randomUUID();
    const wrong: readonly (readonly [data: string | Uint8Array<ArrayBuffer>, code: number])[] = [
      [new Uint8Array([1, 2]), 1003],
      ['x'.repeat(presenceLimits.messageBytes + 1), 1009],
      ['', 1008],
      ['{', 1008],
      ['['.repeat(8000), 1008],
      ['null', 1008],
      ['{}', 1008],
      ['{"selected": ["ä"], "ü€ü€ü€ü€ü€ü€ü€ü€ü€ü€ü€ü€ü€ü€ü€ü€ü€ü€ü€ü€ü€ü€ü€ü€ü€ü€ü€ü€ü€": 1}', 1008],
      [JSON.stringify({ selected: [id], number: 1 }), 1008],
      [JSON.stringify({ selected: [id], __proto__: null, constructor: 1 }), 1008],
      [JSON.stringify({ selected: ['../etc/passwd'] }), 1008],
      [JSON.stringify({ selected: Array.from({ length: presenceLimits.selected + 1 }, () => randomUUID()) }), 1008],
      [JSON.stringify({ selected: [id, id] }), 1008],
      [JSON.stringify({ selected: [id], name: '' }), 1008],
      [JSON.stringify({ selected: [], pointer: null }), 1008],
      [JSON.stringify({ selected: [], pointer: { x: 1 } }), 1008],
      [JSON.stringify({ selected: [], pointer: { x: 1e8, y: 0 } }), 1008],
      [JSON.stringify({ selected: [], pointer: { x: 0, y: 0, z: 0 } }), 1008],
      ['{"selected": [], "view": {"x": 0, "y": 0, "width": 1e999, "height": 1}}', 1008],
      [JSON.stringify({ selected: [id], name: 'a\nb' }), 1008],
      [JSON.stringify({ selected: [id], name: 'x'.repeat(presenceLimits.nameLength + 1) }), 1008],
    ];
    const codes = await Promise.all(
      wrong.map(async ([data]) => {
        const { socket } = await enter();
        socket.send(data);
        return socket.closed;
      }),
    );
    assert.deepEqual(
      codes,
      wrong.map(([, code]) => code),
    );
    const left = () =>
      watcher.notices().flatMap(({ action, event }) => (action === 'presence.changed' ? (event.left as number[]) : []));
    await waitFor(() => left().length >= wrong.length, { what: 'all of them to leave' });
    const shown = watcher.notices().flatMap((notice) => sessionsIn(notice));
    assert.ok(shown.every(({ name, selected }) => /^Guest \d+$/.test(name) && selected.length === 0));
    await client.get('/v2/version');
    await watcher.close();
  });

  it('sends the last of very many states, with few notices', async () => {
    const [watcher, busy] = [await enter(), await enter()];
    const count = 3000;
    for (let turn = 1; turn <= count; turn += 1) say(busy, { name: `name ${turn}`, selected: [] });
    await sees(watcher, ({ name }) => name === `name ${count}`, 'the last state');
    const seen = watcher.notices().filter(({ action }) => action === 'presence.changed').length;
    assert.ok(seen < count / 10, `${seen} notices`);
    await Promise.all([watcher.close(), busy.close()]);
  });
});
