import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { it } from 'node:test';
import type { Settings } from '../../schema/settings.ts';
import { nextConsole } from '../nodes/node-console.ts';
import { Ports } from './ports.ts';

/** Ranges of the tests' own, below the ports that the kernel gives out (32768 on), tried until one is free of other programs. */
function make(first = 21_000): Ports {
  const server = {
    console_start_port_range: first,
    console_end_port_range: first + 9,
    vnc_console_start_port_range: first + 5,
    vnc_console_end_port_range: first + 9,
    udp_start_port_range: first,
    udp_end_port_range: first + 9,
  };
  return new Ports(server as Settings['Server'], '127.0.0.1');
}

it('gives a console the port it wants, or silently another', async () => {
  const ports = make();
  assert.equal(await ports.takeConsole('telnet', 21_007), 21_007);
  assert.notEqual(await ports.takeConsole('telnet', 21_007), 21_007);
  assert.ok(((await ports.takeConsole('telnet', 60_000)) ?? 0) < 21_010);
  assert.equal(await ports.takeConsole('none', 21_001), null);
});

it('does not give a port that another program listens on', async () => {
  const ports = make(21_100);
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(21_103, '127.0.0.1', resolve));
  assert.notEqual(await ports.takeConsole('telnet', 21_103), 21_103);
  server.close();
});

it('never gives one port to VNC and to another console, though their ranges overlap', async () => {
  const ports = make(21_200);
  const taken = new Set<number | null>();
  for (let n = 0; n < 5; n++) taken.add(await ports.takeConsole('vnc'));
  for (let n = 0; n < 5; n++) taken.add(await ports.takeConsole('telnet'));
  assert.equal(taken.size, 10);
  await assert.rejects(ports.takeConsole('vnc'), { code: 'ports_exhausted' });
  await assert.rejects(ports.takeConsole('telnet'), { code: 'ports_exhausted' });
  ports.releaseConsole(21_205);
  assert.equal(await ports.takeConsole('vnc'), 21_205);
});

it('follows the rules of asking for a console', async () => {
  const ports = make(21_300);
  const port = await ports.takeConsole('telnet');
  const telnet = { type: 'telnet', port } as const;
  assert.deepEqual(await nextConsole(ports, telnet, {}), telnet);
  assert.deepEqual(await nextConsole(ports, telnet, { console: port }), telnet);
  assert.deepEqual(await nextConsole(ports, telnet, { console: null }), { type: 'telnet', port: null });
  assert.deepEqual(await nextConsole(ports, telnet, { console_type: 'none', console: 21_305 }), { type: 'none', port: null });
  assert.deepEqual(await nextConsole(ports, { type: 'none', port: null }, { console: 21_305 }), { type: 'none', port: null });
  assert.deepEqual(await nextConsole(ports, telnet, { console: 21_305 }), { type: 'telnet', port: 21_305 });
  assert.equal((await nextConsole(ports, telnet, { console_type: 'vnc' })).type, 'vnc');
});
