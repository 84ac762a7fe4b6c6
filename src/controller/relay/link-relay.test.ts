import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { takePortBlock } from '../../../test/support/port-block.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import { type RelayRole, relayHello } from '../../lib/relay-hello.ts';
import { LinkRelay } from './link-relay.ts';

const log = { debug() {}, error() {}, info() {}, warn() {} };
const owned = new AsyncDisposableStack();
after(() => owned.disposeAsync());

function makeRelay(port = 0): LinkRelay {
  const relay = new LinkRelay(port, '', log);
  owned.defer(() => relay.close());
  return relay;
}

/** An end of a link, and what it has received. */
class End {
  readonly socket: Socket;
  text = '';

  constructor(port: number, role: RelayRole, ticket: string) {
    this.socket = connect(port, '127.0.0.1');
    owned.defer(() => void this.socket.destroy());
    this.socket.on('error', () => undefined);
    this.socket.on('data', (chunk) => {
      this.text += chunk.toString('latin1');
    });
    this.socket.write(relayHello(role, ticket));
  }

  has(text: string): Promise<unknown> {
    return waitFor(() => this.text === text, { what: `an end that has received ${JSON.stringify(text)}` });
  }
}

async function meet(port: number, ticket: string): Promise<[End, End]> {
  const accept = new End(port, 'accept', ticket);
  await once(accept.socket, 'connect');
  const other = new End(port, 'connect', ticket);
  await accept.has('\u0001');
  accept.socket.write(Buffer.from([1]));
  await other.has('\u0001');
  return [accept, other];
}

test('a ticket joins one pair of ends, until it is revoked', async () => {
  const relay = makeRelay();
  const ticket = randomBytes(32).toString('hex');
  const port = Number(await relay.admit('link', ticket));
  const [accept, other] = await meet(port, ticket);
  other.socket.write('there');
  await accept.has('\u0001there');
  accept.socket.write('back');
  await other.has('\u0001back');
  // The two ends have begun anew.
  const [newer, newest] = await meet(port, ticket);
  for (const { socket } of [accept, other]) if (!socket.destroyed) await once(socket, 'close');
  relay.forget('link');
  for (const { socket } of [newer, newest]) if (!socket.destroyed) await once(socket, 'close');
  const stranger = new End(port, 'accept', ticket);
  await once(stranger.socket, 'close');
  assert.equal(stranger.text, '');
});

test('a relay whose port another program has is there when the port is free', async () => {
  const block = await takePortBlock();
  owned.defer(() => block.release());
  const port = Number(block.settings.console_start_port_range);
  const server = createServer().listen(port);
  owned.defer(() => void server.close());
  await once(server, 'listening');
  const relay = makeRelay(port);
  const ticket = randomBytes(32).toString('hex');
  assert.equal(await relay.admit('link', ticket), undefined);
  server.close();
  await once(server, 'close');
  const found = await waitFor(() => relay.admit('link', ticket), { what: 'a relay', everyMs: 100 });
  assert.equal(found, port);
  await meet(port, ticket);
});
