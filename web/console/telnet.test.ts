import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { escapeTelnet, offers } from '../../src/compute/console/telnet-codec.ts';
import { TelnetStripper } from './telnet.ts';

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1');

describe('TelnetStripper', () => {
  it('leaves of what a console sends the data, wherever it is split', () => {
    const data = Buffer.from([72, 255, 105, 255, 255, 33, 13, 10]);
    const sent = Buffer.concat([offers, escapeTelnet(data), Buffer.from([255, 250, 31, 0, 80, 255, 240]), Buffer.from('end')]);
    for (let at = 0; at <= sent.length; at += 1) {
      const stripper = new TelnetStripper();
      const got = Buffer.concat([stripper.push(sent.subarray(0, at)), stripper.push(sent.subarray(at))]);
      assert.equal(text(got), `${text(data)}end`, `split at ${at}`);
    }
  });
});
