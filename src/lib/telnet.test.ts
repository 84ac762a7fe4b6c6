import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { escapeTelnet, offers, TelnetDecoder, towardsClient } from '../../src/compute/console/telnet-codec.ts';
import { askForMark, TelnetStripper } from './telnet.ts';

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1');

describe('TelnetStripper', () => {
  it('keeps only the data of a console’s output, wherever it is split', () => {
    const data = Buffer.from([72, 255, 105, 255, 255, 33, 13, 10]);
    const sent = Buffer.concat([offers, escapeTelnet(data), Buffer.from([255, 250, 31, 0, 80, 255, 240]), Buffer.from('end')]);
    for (let at = 0; at <= sent.length; at += 1) {
      const stripper = new TelnetStripper();
      const got = Buffer.concat([stripper.push(sent.subarray(0, at)), stripper.push(sent.subarray(at))]);
      assert.equal(text(got), `${text(data)}end`, `split at ${at}`);
    }
  });

  it('reports the console’s reply to a timing mark, and strips it', () => {
    const { reply, data } = new TelnetDecoder(towardsClient).push(askForMark);
    assert.equal(data.length, 0);
    for (let at = 0; at <= reply.length; at += 1) {
      let marks = 0;
      const stripper = new TelnetStripper(() => (marks += 1));
      assert.equal(stripper.push(offers).length, 0);
      assert.equal(marks, 0);
      assert.equal(stripper.push(reply.subarray(0, at)).length + stripper.push(reply.subarray(at)).length, 0);
      assert.equal(marks, 1, `split at ${at}`);
    }
  });
});
