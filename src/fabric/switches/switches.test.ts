/** Switches forward frames: in at one port, out at others, by counts and bytes. Sockets and links have no part in it. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import {
  access,
  broadcast,
  counts,
  frame,
  hex,
  hub,
  type Plug,
  SwitchBed,
  tookAll,
  trunk,
} from '../../../test/support/switch-plug.ts';
import { headerBytes } from '../frames.ts';
import { ageingMs, tableSize } from './address-table.ts';
import { queueBytes } from './egress-queue.ts';
import { headerCheck } from './forward-atm.ts';
import type { SwitchPort } from './port-switch.ts';

let bed: SwitchBed;
beforeEach(() => {
  bed = new SwitchBed();
});

describe('a learning switch', () => {
  it('floods what it does not know, and learns from senders', async () => {
    const [a, b, c] = [1, 2, 3].map((number) => bed.plug(number, access(1))) as [Plug, Plug, Plug];
    a.send(frame(0xb, 0xa));
    assert.deepEqual(await tookAll([a, b, c]), [[], hex(frame(0xb, 0xa)), hex(frame(0xb, 0xa))]);
    b.send(frame(0xa, 0xb));
    assert.deepEqual(await counts([a, b, c]), [1, 0, 0]);
    a.send(frame(0xb, 0xa));
    assert.deepEqual(await counts([a, b, c]), [0, 1, 0]);
    c.send(frame(broadcast, 0xc), frame(0x0100_5e00_0001, 0xc));
    assert.deepEqual(await counts([a, b, c]), [2, 2, 0]);
    assert.deepEqual(
      bed.switches
        .addresses('s')
        .map(({ mac, vlan, port, ageMs }) => `${mac} ${vlan} ${port} ${ageMs}`)
        .sort(),
      ['00:00:00:00:00:0a 1 1 0', '00:00:00:00:00:0b 1 2 0', '00:00:00:00:00:0c 1 3 0'],
    );
  });

  it('keeps the order, whole and unchanged, of frames for many', async () => {
    const [a, b, c] = [1, 2, 3].map((number) => bed.plug(number, access(1))) as [Plug, Plug, Plug];
    b.send(frame(0xa, 0xb));
    c.send(frame(0xa, 0xc));
    await tookAll([a, b, c]);
    const sent = [0xb, 0xb, 0xc, 0xc, broadcast, 0xb].map((to, index) => frame(to, 0xa, [], String(index)));
    a.send(...sent);
    const [, ofB, ofC] = await tookAll([a, b, c]);
    assert.deepEqual(ofB, hex(...[0, 1, 4, 5].map((index) => sent[index] as Buffer)));
    assert.deepEqual(ofC, hex(...[2, 3, 4].map((index) => sent[index] as Buffer)));
    assert.equal(a.port.stats().received, 6);
    assert.equal(a.port.stats().receivedBytes, 6 * 60);
    assert.deepEqual([b.port.stats().sent, b.port.stats().sentBytes], [5, 300]);
  });

  it('follows an address that moves, and loses what would go back where it came from', async () => {
    const [a, b, c] = [1, 2, 3].map((number) => bed.plug(number, access(1))) as [Plug, Plug, Plug];
    a.send(frame(0xb, 0xa));
    c.send(frame(0xb, 0xa));
    await tookAll([a, b, c]);
    b.send(frame(0xa, 0xb));
    assert.deepEqual(await counts([a, b, c]), [0, 0, 1]);
    c.send(frame(0xa, 0xd));
    assert.deepEqual(await counts([a, b, c]), [0, 0, 0]);
    assert.deepEqual(c.dropped, { same_port: 1 });
  });

  it('forgets what was silent for 300 seconds, and no sooner', async () => {
    const [a, b, c] = [1, 2, 3].map((number) => bed.plug(number, access(1))) as [Plug, Plug, Plug];
    b.send(frame(0xa, 0xb));
    await tookAll([a, b, c]);
    bed.nowMs += ageingMs;
    a.send(frame(0xb, 0xa));
    assert.deepEqual(await counts([a, b, c]), [0, 1, 0]);
    bed.nowMs += 1;
    a.send(frame(0xb, 0xa));
    assert.deepEqual(await counts([a, b, c]), [0, 1, 1]);
    assert.deepEqual(
      bed.switches.addresses('s').map(({ mac }) => mac),
      ['00:00:00:00:00:0a'],
    );
  });

  it('forgets an address on request, when its port is unplugged, and when its port is reconfigured', async () => {
    const [a, b, c] = [1, 2, 3].map((number) => bed.plug(number, access(1))) as [Plug, Plug, Plug];
    const learn = async () => {
      b.send(frame(0xa, 0xb));
      await tookAll([a, b, c]);
    };
    const isKnown = async () => {
      a.send(frame(0xb, 0xa));
      return (await counts([a, b, c]))[2] === 0;
    };
    await learn();
    assert.ok(await isKnown());
    bed.switches.forgetAddresses('s');
    assert.equal(await isKnown(), false);
    await learn();
    b.port.change({ type: 'switch', switch: 's', port: 2, settings: access(1) });
    assert.ok(await isKnown(), 'said again, nothing changes');
    b.port.change({ type: 'switch', switch: 's', port: 2, settings: trunk(1) });
    assert.equal(await isKnown(), false);
    await learn();
    b.port.close();
    assert.equal(await isKnown(), false);
  });

  it('keeps no more addresses than it has room for, the newest among them', () => {
    const a = bed.plug(1, access(1));
    const many = tableSize * 2;
    for (let index = 0; index < many; index++) {
      bed.nowMs += 1;
      a.send(frame(broadcast, 0x0200_0000_0000 + index));
    }
    const known = bed.switches.addresses('s');
    assert.ok(known.length <= tableSize && known.length > tableSize * 0.9, String(known.length));
    assert.ok(known.some(({ mac }) => mac === `02:00:00:00:${((many - 1) >> 8).toString(16)}:${((many - 1) & 0xff).toString(16)}`));
  });

  it('counts frames that are none', async () => {
    const [a, b] = [1, 2].map((number) => bed.plug(number, access(1))) as [Plug, Plug];
    a.send(Buffer.alloc(13), frame(broadcast, 0xa), Buffer.alloc(1));
    assert.deepEqual(await counts([a, b]), [0, 1]);
    assert.deepEqual(a.dropped, { runt: 2 });
    assert.equal(a.port.stats().received, 3);
  });
});

describe('a hub', () => {
  it('gives every frame to all others', async () => {
    const [a, b, c] = [1, 2, 3].map((number) => bed.plug(number, hub)) as [Plug, Plug, Plug];
    b.send(frame(0xa, 0xb));
    a.send(frame(0xb, 0xa), frame(broadcast, 0xa));
    assert.deepEqual(await counts([a, b, c]), [1, 2, 3]);
    assert.deepEqual(bed.switches.addresses('s'), []);
  });
});

describe('the queue of a port', () => {
  it('drops at its tail what does not fit, counts it, and delays no other port', async () => {
    const [a, slow, quick] = [1, 2, 3].map((number) => bed.plug(number, hub)) as [Plug, Plug, Plug];
    slow.holds = true;
    a.send(frame(broadcast, 0xa));
    assert.deepEqual(await counts([slow, quick]), [1, 1]);
    const room = Math.floor(queueBytes / (headerBytes + 60));
    const many = room + 100;
    for (let sent = 0; sent < many; sent++) {
      a.send(frame(broadcast, 0xa, [], String(sent % 10)));
      if (sent % 1000 === 0) await turn();
    }
    assert.deepEqual(await counts([slow, quick]), [0, many]);
    assert.deepEqual(slow.dropped, { queue_full: 100 });
    assert.equal(slow.port.stats().queued, room);
    slow.holds = false;
    slow.port.resume();
    const late = await slow.took();
    assert.equal(late.length, room);
    assert.deepEqual(late.slice(0, 3), hex(...['0', '1', '2'].map((text) => frame(broadcast, 0xa, [], text))));
    assert.equal(slow.port.stats().queued, 0);
    a.send(frame(broadcast, 0xa));
    assert.deepEqual(await counts([slow, quick]), [1, 1]);
  });

  it('counts frames that a tag would make too long', async () => {
    const [a, b] = [bed.plug(1, access(5)), bed.plug(2, trunk(1))];
    const longest = Buffer.concat([frame(broadcast, 0xa), Buffer.alloc(4096 + 65536 - 60)]);
    a.send(longest);
    assert.deepEqual(await counts([b]), [0]);
    assert.deepEqual(b.dropped, { oversized: 1 });
  });
});

describe('a circle of switches', () => {
  /** Joins two plugs as a link does: what comes out of one goes into the other. */
  function join(one: [string, number], other: [string, number]): void {
    const ports: SwitchPort[] = [];
    for (const [index, [id, port]] of [one, other].entries()) {
      const received = (buffer: Buffer, start: number, end: number) => ports[1 - index]?.send(buffer, start, end) ?? true;
      ports.push(bed.switches.plug({ type: 'switch', switch: id, port, settings: hub }, { received, drained: () => undefined }));
    }
  }

  it('keeps frames running and everything else too', async () => {
    for (const port of [1, 2, 3]) join(['s', port], ['t', port]);
    const [a, b] = [bed.plug(9, hub), bed.plug(9, hub, 't')];
    a.send(frame(broadcast, 0xa));
    for (let turns = 0; turns < 200; turns++) await turn();
    const [s] = bed.switches.stats(['s']);
    assert.ok(b.received.length > 1000, `${b.received.length}`);
    assert.ok(s?.ports.every(({ queued }) => queued * 64 <= queueBytes));
    assert.ok(
      s?.ports.some(({ dropped }) => (dropped.queue_full ?? 0) > 0),
      'three ways multiply frames until the queues are full',
    );
    for (const { port } of [a, b]) port.close();
    for (const id of ['s', 't']) for (const port of [1, 2, 3]) bed.plug(port, hub, id).port.close();
    await turn();
    assert.deepEqual(bed.switches.stats(), []);
  });
});

describe('frame relay and ATM', () => {
  it('frames take their circuit, under its number there', async () => {
    const circuits = [{ dlci: 101, toPort: 2, toDlci: 202 }];
    const a = bed.plug(1, { medium: 'frame_relay', circuits });
    const b = bed.plug(2, { medium: 'frame_relay', circuits: [{ dlci: 202, toPort: 1, toDlci: 101 }] });
    const data = (dlci: number, flags: number) =>
      Buffer.from([((dlci >> 4) << 2) | (flags & 2), ((dlci & 15) << 4) | (flags & 0x0c) | 1, 3, 0xcc, 0x45]);
    a.send(data(101, 0x0e), data(102, 0), Buffer.from([0x18]));
    assert.deepEqual(await b.took(), hex(data(202, 0x0e)));
    assert.deepEqual(a.dropped, { circuit: 2 });
    b.send(data(202, 0));
    assert.deepEqual(await a.took(), hex(data(101, 0)));
    a.port.change({ type: 'switch', switch: 's', port: 1, settings: { medium: 'frame_relay', circuits: [] } });
    a.send(data(101, 0));
    assert.deepEqual(await b.took(), []);
  });

  it('a status enquiry is answered: the line is up, and these are its circuits', async () => {
    const circuits = [
      { dlci: 101, toPort: 2, toDlci: 202 },
      { dlci: 1007, toPort: 3, toDlci: 5 },
    ];
    const a = bed.plug(1, { medium: 'frame_relay', circuits });
    bed.plug(2, { medium: 'frame_relay', circuits: [] });
    const ask = async (frame: string) => {
      a.send(Buffer.from(frame, 'hex'));
      return a.took();
    };
    // T1.617 Annex D: 101 is 06 a8 there, 1007 is 3e f8; only the first one's other end is plugged.
    assert.deepEqual(await ask('00010308007595' + '010100' + '03020700'), [
      '00010308007d95' + '010100' + '03020107' + '070306a882' + '07033ef880',
    ]);
    assert.deepEqual(await ask('00010308007595' + '010101' + '03020801'), ['00010308007d95' + '010101' + '03020208']);
    // Q.933 Annex A.
    assert.deepEqual(await ask('000103080075' + '510100' + '53020902'), [
      '00010308007d' + '510100' + '53020309' + '570306a882' + '57033ef880',
    ]);
    for (const other of ['00010308007d95' + '010100', '000103', '000103080075' + '990100', '00010309007595' + '010100']) {
      assert.deepEqual(await ask(other), []);
    }
    assert.deepEqual(a.dropped, { circuit: 4 });
  });

  it('cells take their channel, or their path', async () => {
    const a = bed.plug(1, {
      medium: 'atm',
      circuits: [
        { vpi: 0, vci: 100, toPort: 2, toVpi: 1, toVci: 200 },
        { vpi: 3, toPort: 2, toVpi: 4 },
      ],
    });
    const b = bed.plug(2, { medium: 'atm', circuits: [] });
    const cell = (vpi: number, vci: number, check: number) => {
      const bytes = Buffer.alloc(53, 0x6a);
      bytes.writeUInt32BE((vpi << 20) | (vci << 4) | 2);
      bytes[4] = check;
      return bytes;
    };
    a.send(cell(0, 100, 0), cell(3, 77, 0), cell(0, 101, 0), cell(0, 100, 0).subarray(1));
    const [one, two, ...more] = (await b.took()).map((text) => Buffer.from(text, 'hex'));
    assert.deepEqual(more, []);
    assert.equal(one?.readUInt32BE(), (1 << 20) | (200 << 4) | 2);
    assert.equal(two?.readUInt32BE(), (4 << 20) | (77 << 4) | 2);
    assert.deepEqual(one?.subarray(5), cell(0, 0, 0).subarray(5));
    assert.deepEqual(a.dropped, { circuit: 2 });
    // I.432.1: an idle cell's header 00 00 00 01 has the sum 52 (hexadecimal).
    assert.equal(headerCheck(Buffer.from([0, 0, 0, 1]), 0), 0x52);
  });
});
