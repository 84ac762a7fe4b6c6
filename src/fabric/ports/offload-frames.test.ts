import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { frameLength, headerBytes } from '../frames.ts';
import { roomBytes } from './interface-access.ts';
import { InterfacePlace } from './interface-place.ts';
import type { Native } from './native.ts';
import { OffloadFrames } from './offload-frames.ts';

/** Stands in for the kernel: VLAN interfaces, which send large packets with a tag, are missing in many. */
function kernelWith(packet: Buffer, { notes, tag }: { notes: Buffer; tag: Buffer }): Native {
  const readBehind: Native['readBehind'] = (_descriptor, header, { buffer, at, tag: into }) => {
    notes.copy(header);
    if (into) tag.copy(into);
    return packet.copy(buffer, at);
  };
  return { readBehind, pieces: () => ({ clear: () => undefined, add: () => true }) } as unknown as Native;
}

describe('frames of an interface', () => {
  it('have their VLAN tag again when the kernel cut it out of a large packet of TCP', () => {
    const payload = Buffer.from(Array.from({ length: 250 }, (_, index) => index));
    const header = Buffer.from('02000000000202000000000108004500012200014000400600000a0000020a000001', 'hex');
    const tcp = Buffer.from('1389138a00000001000000025018020000000000', 'hex');
    const packet = Buffer.concat([header, tcp, payload]);
    // A checksum is missing, segments of IPv4, 100 bytes each, TCP at 34.
    const notes = Buffer.from([1, 1, 54, 0, 100, 0, 34, 0, 16, 0]);
    const tag = Buffer.from('8100e007', 'hex');
    const device = { name: 'x', place: new InterfacePlace('host'), hasQueue: false, merges: false, losesTags: true, open: () => 1 };
    const frames = new OffloadFrames(device, kernelWith(packet, { notes, tag }), Buffer.alloc(roomBytes));
    const buffer = Buffer.allocUnsafeSlow(roomBytes * 2);
    const taken = frames.read(1, buffer, 8);
    assert.deepEqual([taken.result, taken.frames], [0, 3]);
    const bytes: Buffer[] = [];
    for (let at = 8; at < taken.end; ) {
      const end = at + headerBytes + frameLength(buffer, at);
      const frame = buffer.subarray(at + headerBytes, end);
      assert.equal(frame.subarray(0, 18).toString('hex'), '0200000000020200000000018100e0070800');
      assert.equal(frame.readUInt16BE(20), frame.length - 18, 'length of IPv4');
      bytes.push(frame.subarray(58));
      at = end;
    }
    assert.deepEqual(Buffer.concat(bytes), payload);
  });
});
