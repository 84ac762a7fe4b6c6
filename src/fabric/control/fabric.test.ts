/** A fabric without its process: PCs, a switch between them, and their links. */
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { loadNative } from '../ports/native.ts';
import { Fabric } from './fabric.ts';

test('filters act on links between ports of PCs and switches, from when they are set', async (t) => {
  const fabric = new Fabric(await loadNative(), tmpdir());
  t.after(() => fabric.close());
  const settings = (number: number) => ({
    ...{ name: `PC${number}`, mtu: 1500, dns: [] },
    ip4: { address: `10.0.0.${number}`, prefix: 24 },
  });
  const pc = (number: number) => ({ id: `pc${number}`, name: 'PC', mac: `00:50:79:66:68:0${number}`, directory: tmpdir() });
  await fabric.pcs.apply([1, 2].map((number) => ({ ...pc(number), settings: settings(number) })));
  const link = (number: number, filters: object) => ({
    ...{ id: `link${number}`, a: { type: 'pc', pc: `pc${number}` }, filters, suspend: false },
    b: { type: 'switch', switch: 'sw', port: number, settings: { medium: 'ethernet', mode: 'access', vlan: 1, tagType: 0x8100 } },
  });
  const received = async () => {
    const answer = await fabric.pcs.find('pc1')?.probe({ type: 'ping', to: '10.0.0.2', count: 2, intervalMs: 10, timeoutMs: 100 });
    return answer?.type === 'ping' ? answer.replies.filter(({ ms }) => ms !== undefined).length : undefined;
  };
  assert.deepEqual(await fabric.apply([link(1, {}), link(2, {})]), []);
  assert.equal(await received(), 2);
  await fabric.apply([link(2, { packet_loss: [100] })]);
  assert.equal(await received(), 0);
  await fabric.apply([link(2, {})]);
  assert.equal(await received(), 2);
});
