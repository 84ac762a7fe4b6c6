/** The console server in front of a real vpcs, without a server process around them. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { type NodeConsole, openConsole } from '../../src/compute/console/console.ts';
import type { ConsoleSource } from '../../src/emulators/driver.ts';
import { innerPorts } from '../../src/emulators/vpcs/confined.ts';
import { vpcsDriver } from '../../src/emulators/vpcs/driver.ts';
import { vpcsKind } from '../../src/emulators/vpcs/kind.ts';
import { endMarked, listMarked } from '../../src/process/orphans.ts';
import { Bench } from '../support/contract-bench.ts';
import { firstFreePort } from '../support/port-block.ts';
import { command, openTelnet, type TelnetClient } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pb-'));
  await mkdir(join(folder, 'run'));
});
after(async () => {
  await endMarked(await listMarked(join(folder, 'run')), 0);
  await rm(folder, { recursive: true });
});

test('several clients on one vpcs, a reset, and a console server that starts again', async (t) => {
  const bench = new Bench({ kind: vpcsKind, makeDriver: vpcsDriver, properties: {}, firstPort: firstFreePort + 100 }, folder);
  const { emulator } = await bench.start();
  const source = emulator.console() as ConsoleSource;
  const first = await openConsole({ source, host: '127.0.0.1', port: 0 });
  const { port } = first;
  const clients: TelnetClient[] = [];
  const telnet = async () => {
    const client = await openTelnet(port);
    clients.push(client);
    return client;
  };
  let second: NodeConsole | undefined;
  t.after(async () => {
    for (const client of clients) client.close();
    await emulator.stop({ now: true });
    await Promise.all([first.close(), second?.close(), bench.host.images.close()]);
  });

  const one = await telnet();
  await one.expect(/Virtual PC Simulator, version.*VPCS> $/s);
  // Nothing of vpcs's own negotiation: only what the console offers itself.
  assert.equal(one.received().filter((byte) => byte === 0xff).length, 4);
  const two = await telnet();
  await two.expect(/VPCS> $/);
  await Promise.all([command(two, 'set pcname PC7', /PC7> $/), one.expect(/PC7> $/)]);
  const [[, lport]] = await Promise.all([command(two, 'show ip', /LPORT\s+: (\d+)/), one.expect(/LPORT\s+: (\d+)/)]);
  assert.equal(Number(lport), innerPorts.local);

  await first.reset();
  await Promise.all([one.closed, two.closed]);
  const three = await telnet();
  await three.expect(/PC7> $/);
  await command(three, '', /PC7> $/);

  await first.close();
  await three.closed;
  second = await openConsole({ source, host: '127.0.0.1', port });
  const four = await telnet();
  await command(four, '', /PC7> $/);
  const ended = emulator.ended.then(({ how }) => how);
  await waitFor(
    () => {
      four.send('quit\r');
      return Promise.race([ended, setTimeout(200, false)]);
    },
    { what: 'the end of vpcs' },
  );
  assert.equal(await ended, 'exited');
  await bench.assertNothingRuns();
});
