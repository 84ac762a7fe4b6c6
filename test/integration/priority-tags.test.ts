/**
 * Frames with a priority tag (802.1Q, VLAN 0) through a switch of a real fabric: from and to a machine, a container and trunks. The tag keeps its
 * priority, the frame is of its port's own VLAN, and ports count it like any other.
 */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { SwitchPortSettings } from '../../src/fabric/protocol.ts';
import { ContainerEnd, noContainerEnds } from '../support/container-end.ts';
import type { StreamEnd } from '../support/frame-ends.ts';
import { MachineEnd } from '../support/machine-end.ts';
import { missingPrograms } from '../support/missing-programs.ts';
import { access, broadcast, frame, trunk, tunnel } from '../support/switch-plug.ts';
import { waitFor } from '../support/wait-for.ts';
import { linkOf, startFabric, streamEnd } from '../support/with-fabric.ts';

/** Priority 5 and VLAN 0. */
const priority = 0xa000;
const tag = (info: number, type = 0x8100) => `${type.toString(16)}${info.toString(16).padStart(4, '0')}`;

/** Ports: machines on a stream and on a TAP interface, and a container, in VLAN 5, trunks whose native VLAN is 5 and 1, and a tunnel of VLAN 9. */
const ports: Readonly<Record<string, SwitchPortSettings>> = {
  machine: access(5),
  container: access(5),
  tapMachine: access(5),
  trunk5: trunk(5),
  trunk1: trunk(1),
  tunnel: tunnel(9),
};
/** Sender to receivers, with the tags that arrive. */
const expected: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  machine: { container: tag(priority), tapMachine: tag(priority), trunk5: tag(priority), trunk1: tag(priority + 5) },
  container: { machine: tag(priority), tapMachine: tag(priority), trunk5: tag(priority), trunk1: tag(priority + 5) },
  tapMachine: { machine: tag(priority), container: tag(priority), trunk5: tag(priority), trunk1: tag(priority + 5) },
  trunk5: { machine: tag(priority), container: tag(priority), tapMachine: tag(priority), trunk1: tag(priority + 5) },
  trunk1: { trunk5: tag(priority + 1) },
  tunnel: { trunk5: `${tag(9, 0x88a8)}${tag(priority)}`, trunk1: `${tag(9, 0x88a8)}${tag(priority)}` },
};
const names = Object.keys(ports);

/** Collects what a program writes, as hexadecimal digits. */
function outputOf(child: ChildProcess): () => string {
  let seen = '';
  child.stdout?.setEncoding('hex').on('data', (text: string) => {
    seen += text;
  });
  return () => seen;
}

const skip =
  (await noContainerEnds()) ?? (await missingPrograms(['tcpdump', 'tcpdump'], ['qemu-system-x86_64', 'qemu-system-x86'])) ?? false;

test('priority tags pass a switch in every way', { skip, timeout: 120_000 }, async (context) => {
  const bed = await startFabric(context);
  const container = await ContainerEnd.make(bed.folder, '10.0.0.1/24');
  context.after(() => container.remove());
  const machine = await MachineEnd.make(`${bed.folder}/tapMachine`);
  context.after(() => machine.remove());
  const onTaps = new Map([
    ['container', container.port],
    ['tapMachine', machine.port],
  ]);
  const streams = new Map([['tapMachine', machine.frames]]);
  for (const name of names.filter((one) => !onTaps.has(one))) streams.set(name, await streamEnd(context, `${bed.folder}/${name}`));
  const links = names.map((name, port) =>
    linkOf(
      onTaps.get(name) ?? (streams.get(name) as StreamEnd).port,
      { type: 'switch', switch: 's', port, settings: ports[name] as SwitchPortSettings },
      { id: name },
    ),
  );
  assert.deepEqual(await bed.client.apply(links), []);
  await Promise.all([...streams.values()].map((end) => end.connected()));
  // The kernel takes the tag off a frame that comes in at an interface; tcpdump puts it back.
  const listener = container.spawn('tcpdump', '-i', 'eth0', '-Q', 'in', '--immediate-mode', '-U', '-w', '-');
  context.after(() => listener.kill());
  const output = outputOf(listener);
  const hears = (name: string) =>
    name === 'container' ? output() : (streams.get(name)?.frames ?? []).map((one) => one.toString('hex')).join('');
  // The program in the container takes a moment until it listens.
  await waitFor(
    () => {
      streams.get('machine')?.send(frame(broadcast, 0xee));
      const sent = frame(broadcast, 0xee).toString('hex');
      return output().includes(sent) && hears('tapMachine').includes(sent);
    },
    { what: 'a frame in the container and in the machine', everyMs: 200 },
  );
  const counts = async () => (await bed.client.switchStats(['s']))[0]?.ports ?? [];
  // Frames of the wait are still on their way.
  let last = await counts();
  await waitFor(
    async () => {
      const now = await counts();
      const isStill = isDeepStrictEqual(now, last);
      last = now;
      return isStill;
    },
    { what: 'counters that stand still', everyMs: 300 },
  );
  for (const [index, name] of names.entries()) {
    const before = await counts();
    const source = 0xa0 + index;
    const sent = frame(broadcast, source, [[0x8100, priority]], 'payload');
    if (name === 'container') {
      const sender = container.spawn('socat', '-u', '-', 'INTERFACE:eth0');
      sender.stdin?.end(sent);
      await once(sender, 'exit');
    } else streams.get(name)?.send(sent);
    const head = sent.toString('hex', 0, 12);
    const rest = sent.toString('hex', 16);
    const to = expected[name] ?? {};
    for (const [other, tags] of Object.entries(to))
      await waitFor(() => hears(other).includes(`${head}${tags}${rest}`), {
        what: `${head} ${tags} from ${name} to ${other}; there: ${hears(other).slice(-400)}`,
      });
    const wanted = names.map((other) => [Object.hasOwn(to, other) ? 1 : 0, other === name ? 1 : 0, {}]);
    const changes = async () =>
      (await counts()).map(({ sent: now, received, dropped }, at) => [
        now - (before[at]?.sent ?? 0),
        received - (before[at]?.received ?? 0),
        dropped,
      ]);
    await waitFor(async () => isDeepStrictEqual(await changes(), wanted), {
      what: `sent, received and dropped of the ports for a frame of ${name}: ${JSON.stringify(wanted)}`,
    });
    for (const other of names)
      if (!Object.hasOwn(to, other) && other !== name) assert.ok(!hears(other).includes(head), `${name} at ${other}`);
  }
  // A known address is reached as one that is flooded: the trunk of VLAN 1 has learned none of VLAN 5.
  const learned = await bed.client.addresses('s');
  const vlanOf = (last: number) =>
    learned.filter(({ mac }) => mac === `00:00:00:00:00:${last.toString(16)}`).map(({ vlan }) => vlan);
  assert.deepEqual([0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5].map(vlanOf), [[5], [5], [5], [5], [1], [9]]);
});
