/** Computes that answer wrongly: those of this program do not, so they are stood in for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fault } from '../../api/faults.ts';
import type { RegisteredCompute } from './compute.ts';
import { ImageSpread, sumTimeoutMs } from './image-spread.ts';

const filesize = 2 ** 24;
const [departure_id, sha256, secret] = [crypto.randomUUID(), 'ab'.repeat(32), 'cd'.repeat(32)];
const departure = { departure_id, sha256, secret, filesize };

type Calls = Readonly<Record<string, (body: { readonly host: string }) => unknown>>;

function computeOf(id: string, calls: Calls): RegisteredCompute {
  const call = async (key: string, { body }: { body?: { host: string } } = {}) => {
    const name = key.split('/').at(-1) ?? '';
    const answer = calls[name] ?? (() => assert.fail(`${id}: ${key}`));
    return answer(body ?? { host: '' });
  };
  const raw = async () => calls.raw?.({ host: '' });
  const transport = { state: { connected: true }, call, raw, send: async () => undefined };
  const record = { name: id, host: id, protocol: 'http', port: 1 };
  const facts = { id, record, transport, isLocal: id === 'local', isHere: false, hasImageTransfers: true };
  return facts as unknown as RegisteredCompute;
}

test('computes that give a byte now and then, or have an address that is refused, do not keep the image from those that need it', async () => {
  const holder = { images: () => [{ filename: 'a.img', filesize, md5sum: null }], image_departures: () => departure };
  const asked: string[] = [];
  let received = 0;
  const fetchFrom = ({ host }: { readonly host: string }) => {
    asked.push(host);
    if (host === 'refused') throw fault('compute_bad_request', { request: 'fetch', message: 'host' });
    received = host === 'dripping' ? received + 1 : Math.min(received + 2 ** 23, filesize);
    return { arrival_id: departure_id, received, problem: null };
  };
  const to = computeOf('reader', {
    images: () => [],
    image_arrivals: () => ({ arrival_id: departure_id, received, problem: null }),
    fetch: fetchFrom,
    finish: () => ({ placed: true }),
    raw: () => {
      received = filesize;
    },
  });
  const local = computeOf('local', { raw: () => ({ body: Buffer.alloc(1) }) });
  const all = ['refused', 'dripping', 'sound'].map((id) => computeOf(id, holder));
  const spread = new ImageSpread(
    () => local,
    () => [...all, to],
  );
  const image = { nodeType: 'qemu' as const, filename: 'a.img', md5sum: null, departure };
  assert.equal(await spread.bring(image, to, () => undefined), 'sound');
  assert.deepEqual(asked, ['refused', 'dripping', 'sound', 'sound']);

  received = 0;
  asked.length = 0;
  all.splice(
    0,
    all.length,
    ...(Array.from({ length: 20 }, () => computeOf('refused', holder)).map((one, id) => ({ ...one, id: `${id}` })) as never[]),
  );
  assert.equal(await spread.bring(image, to, () => undefined), 'local');
  assert.equal(asked.length, 3, 'this server sends it when a few could not be read');
});

test('a compute has the time to sum a large image', () => {
  assert.ok(sumTimeoutMs(0) >= 600_000);
  // 100 GB at 20 MB/s.
  assert.ok(sumTimeoutMs(1e11) > 5_000_000);
  // A time that timers can hold, in whole milliseconds.
  for (const bytes of [1, 2 ** 53]) assert.ok(Number.isInteger(sumTimeoutMs(bytes)) && sumTimeoutMs(bytes) < 2 ** 31);
});
