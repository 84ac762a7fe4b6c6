/** Sends the calls of a transcript to a server and reports where its responses differ. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fromBufferPromise } from 'yauzl';
import type { RawClient, Reply } from '../support/raw-http.ts';
import { type Difference, differences, normalise } from './normalise.ts';
import type { Call, MadeBody } from './transcript.ts';

/** Limit for a call that asks for a state and may have to wait for it, ms. */
const settleMs = 30_000;
const pollMs = 100;
/** The address on which GNS3 listened: it was configured as its own compute. */
const recordedPort = 3080;

export interface CallDifference extends Difference {
  readonly call: string;
}

export class Replay {
  readonly #client: RawClient;
  readonly #saved = new Map<string, string>();
  readonly #answers = new Map<string, Buffer>();

  constructor(client: RawClient, work: string) {
    this.#client = client;
    this.#saved.set('work', work);
  }

  /** `isExpected`: a difference for which the call is not made again. */
  async section(calls: readonly Call[], isExpected: (difference: CallDifference) => boolean): Promise<CallDifference[]> {
    const found: CallDifference[] = [];
    for (const call of calls) found.push(...(await this.#settled(call, isExpected)));
    return found;
  }

  /** States that a server reaches asynchronously are polled. */
  async #settled(call: Call, isExpected: (difference: CallDifference) => boolean): Promise<CallDifference[]> {
    const limit = performance.now() + (call.compare === 'part' ? settleMs : 0);
    for (;;) {
      const found = (await this.#make(call)).map((difference) => ({ call: call.name, ...difference }));
      if (found.every(isExpected) || performance.now() >= limit) return found;
      await new Promise((done) => setTimeout(done, pollMs));
    }
  }

  async #make(call: Call): Promise<Difference[]> {
    const raw = await this.#raw(call.raw);
    const reply = await this.#client.send(this.#fill(call.call), {
      ...('body' in call && { body: this.#fillAll(call.body), headers: { 'content-type': 'application/json' } }),
      ...(raw && { raw }),
      ...(call.headers && { headers: call.headers }),
      ...(call.read !== undefined && { readBytes: call.read }),
    });
    this.#answers.set(call.name, reply.bytes);
    this.#save(call, reply);
    return compare(call, reply);
  }

  async #raw(raw: string | MadeBody | undefined): Promise<Uint8Array | undefined> {
    if (raw === undefined) return undefined;
    if (typeof raw === 'string') return Buffer.from(this.#fill(raw), 'latin1');
    if ('disk' in raw) return makeDisk(raw.disk);
    if ('answer' in raw) return this.#answers.get(raw.answer) ?? Buffer.alloc(0);
    return Buffer.from(`{"name": "${raw.with.repeat(raw.name_of)}"}`);
  }

  #save({ save }: Call, reply: Reply): void {
    if (!save) return;
    const body = bodyOf(reply);
    for (const [name, place] of Object.entries(save)) {
      const value = place.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], body);
      if (typeof value === 'string') this.#saved.set(name, value);
    }
  }

  #fill(text: string): string {
    return text.replace(/<(\w+)>/g, (whole, name: string) => this.#saved.get(name) ?? whole);
  }

  #fillAll(value: unknown): unknown {
    if (typeof value === 'string') return this.#fill(value);
    if (value === recordedPort) return Number(this.#client.base.port);
    if (Array.isArray(value)) return value.map((item) => this.#fillAll(item));
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [this.#fill(key), this.#fillAll(item)]));
  }
}

async function compare({ answer, compare: how }: Call, reply: Reply): Promise<Difference[]> {
  const { headers, status } = reply;
  const head = [
    ...differences(answer.status, status, 'status'),
    ...differences(answer.type, headers['content-type'] ?? null, 'type'),
    ...differences(answer.route, headers['x-route'] ?? null, 'route'),
  ];
  // A body of another outcome says nothing more.
  if (how === 'status' || answer.status !== status) return head;
  const ours = normalise(await comparable(how, reply));
  return [...head, ...differences(normalise(answer.body), ours, 'body', how === 'part')];
}

async function comparable(how: Call['compare'], reply: Reply): Promise<unknown> {
  const body = bodyOf(reply);
  if (how === 'count') return Array.isArray(body) ? body.length : body;
  if (how === 'filters') return (body as { filters?: unknown } | null)?.filters ?? body;
  if (how === 'bytes') return { _first_bytes_hex: reply.bytes.toString('hex') };
  if (how === 'zip') return namesIn(reply.bytes);
  return body;
}

/** Body as JSON, as text, or as the length of other bytes. */
function bodyOf({ bytes }: Reply): unknown {
  const text = bytes.toString('utf8');
  if (!Buffer.from(text, 'utf8').equals(bytes)) {
    return { _binary_length: bytes.length, _first_bytes_hex: bytes.subarray(0, 32).toString('hex') };
  }
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function makeDisk(size: string): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'pb-disk-'));
  try {
    const file = join(folder, 'disk.qcow2');
    await promisify(execFile)('qemu-img', ['create', '-q', '-f', 'qcow2', file, size]);
    return await readFile(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function namesIn(archive: Buffer): Promise<string[]> {
  const names: string[] = [];
  const zip = await fromBufferPromise(archive);
  for await (const entry of zip.eachEntry()) names.push(entry.fileName);
  return names.sort();
}
