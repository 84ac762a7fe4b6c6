/** The console server in front of a real PC of a fabric, without a server process around them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openConsole } from '../../src/compute/console/console.ts';
import type { ConsoleSource } from '../../src/emulators/driver.ts';
import { PcBench } from '../support/pc-bench.ts';
import { command, openTelnet, type TelnetClient } from '../support/telnet.ts';

test('several clients on one PC, a reset, and a console server that starts again', async (t) => {
  const bench = await PcBench.open(t);
  const emulator = await bench.start('one');
  const source = emulator.console() as ConsoleSource;
  await using stack = new AsyncDisposableStack();
  const first = await openConsole({ source, host: '127.0.0.1', port: 0 });
  stack.defer(() => first.close());
  const { port } = first;
  const telnet = async (): Promise<TelnetClient> => {
    const client = await openTelnet(port);
    stack.defer(() => client.close());
    return client;
  };

  const one = await telnet();
  await one.expect(/Virtual PC Simulator, version.*VPCS> $/s);
  const two = await telnet();
  await two.expect(/VPCS> $/);
  await Promise.all([command(two, 'set pcname PC7', /PC7> $/), one.expect(/PC7> $/)]);

  // Nothing is connected to the PC while no client is; the next one sees the last output.
  one.close();
  two.close();
  await Promise.all([one.closed, two.closed]);
  const later = await telnet();
  await later.expect(/VPCS> .*PC7> $/s);

  await first.reset();
  await later.closed;
  const three = await telnet();
  await three.expect(/PC7> $/);
  await command(three, '', /PC7> $/);

  await first.close();
  await three.closed;
  const second = await openConsole({ source, host: '127.0.0.1', port });
  stack.defer(() => second.close());
  const four = await telnet();
  await command(four, '', /PC7> $/);
  four.send('quit\r');
  assert.equal((await emulator.ended).how, 'exited');
});
