/**
 * Replays requests to GNS3 3.0.6 and compares the statuses, and for invalid requests the list of faults. One call a line in `calls/`, in
 * the order of the recording; ids that the server chooses are saved under a name and filled in.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RawClient, Reply } from '../../support/raw-http.ts';

/** A disk image, bytes that begin so (hexadecimal), or the archive that was exported last. */
type MadeBody3 =
  | { readonly disk: number; readonly bytes: number }
  | { readonly begin: string; readonly bytes: number }
  | { readonly export: true };

export interface Call3 {
  readonly name: string;
  readonly call: string;
  readonly body?: unknown;
  readonly form?: Readonly<Record<string, string>>;
  readonly raw?: string | MadeBody3;
  /** Made without a login. */
  readonly anonymous?: true;
  /** User who makes the call; absent: the administrator. */
  readonly as?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Name to the place in the answer, as `0.node_id`, or `[Users].user_group_id` for the item of a list with this name. */
  readonly save?: Readonly<Record<string, string>>;
  readonly status: number;
  /** Type and place of each fault of an invalid request. */
  readonly faults?: readonly (readonly [string, string])[];
}

export interface Answered3 {
  readonly call: Call3;
  /** Our status. */
  readonly status: number;
  /** Message of our answer. */
  readonly text: string;
}

export async function readCalls(section: string): Promise<Call3[]> {
  const text = await readFile(join(import.meta.dirname, 'calls', `${section}.jsonl`), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Call3);
}

export class Replay3 {
  readonly #client: RawClient;
  readonly #saved = new Map<string, string>();
  /** Access tokens by user, of the logins that were made. */
  readonly #tokens = new Map<string, string>();
  #exported: Buffer = Buffer.alloc(0);

  constructor(client: RawClient) {
    this.#client = client;
  }

  /** Logs the administrator in, who makes all calls without another user. */
  async logIn(login: { readonly username: string; readonly password: string }): Promise<void> {
    const call = { name: 'log in', call: 'POST /v3/access/users/authenticate', body: login, status: 200 };
    this.#save(call, await this.#send(call));
    this.#saved.set('token', this.#tokens.get(login.username) ?? '');
  }

  /** Makes the calls of a section. */
  async section(section: string): Promise<Answered3[]> {
    const answered: Answered3[] = [];
    for (const call of await readCalls(section)) {
      const reply = await this.#send(call);
      this.#save(call, reply);
      answered.push({ call, status: reply.status, text: reply.text().slice(0, 300) });
    }
    return answered;
  }

  async #send(call: Call3): Promise<Reply> {
    const raw = call.form ? new URLSearchParams(call.form).toString() : this.#rawOf(call.raw);
    // A stream that does not end is read to its first line.
    const isFeed = /^GET \S+\/(?:notifications|capture\/stream)$/.test(call.call);
    const token = call.anonymous ? undefined : this.#tokens.get(call.as ?? 'admin');
    const headers = {
      ...('body' in call && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(this.#fillAll(call.headers ?? {}) as Record<string, string>),
    };
    const reply = await this.#client.send(this.#fill(call.call), {
      ...('body' in call && { body: this.#fillAll(call.body) }),
      ...(raw !== undefined && { raw }),
      headers,
      ...(isFeed && { readBytes: 1 }),
    });
    if (call.call.includes('/export') && reply.status === 200) this.#exported = reply.bytes;
    return reply;
  }

  #rawOf(raw: Call3['raw']): string | Uint8Array | undefined {
    if (raw === undefined || typeof raw === 'string') return raw;
    if ('export' in raw) return this.#exported;
    const bytes = Buffer.alloc(raw.bytes);
    if ('begin' in raw) Buffer.from(raw.begin, 'hex').copy(bytes);
    else disk(raw.disk).copy(bytes);
    return bytes;
  }

  #save({ call, body: sent, save = {} }: Call3, reply: Reply): void {
    if (typeof reply.headers.etag === 'string') this.#saved.set('etag', reply.headers.etag);
    let body: unknown;
    try {
      body = JSON.parse(reply.text());
    } catch {
      return;
    }
    const { username } = (sent ?? {}) as { username?: string };
    const { access_token } = (body ?? {}) as { access_token?: string };
    if (call.endsWith('/authenticate') && username !== undefined && access_token !== undefined)
      this.#tokens.set(username, access_token);
    // The built-in templates of this server have the ids of GNS3 2.2.
    if (Array.isArray(body))
      for (const { builtin, template_type, template_id } of body as Record<string, string>[])
        if (builtin && template_type) this.#saved.set(`t_${template_type}`, template_id ?? '');
    for (const [name, place] of Object.entries(save)) {
      const value = placeOf(body, place);
      if (typeof value === 'string') this.#saved.set(name, value);
    }
  }

  /** A name without a value stands for an id that does not exist. */
  #fill(text: string): string {
    return text.replace(/<(\w+)>/g, (_, name: string) => this.#saved.get(name) ?? '00000000-0000-4000-8000-00000000dead');
  }

  #fillAll(value: unknown): unknown {
    if (typeof value === 'string') return this.#fill(value);
    if (Array.isArray(value)) return value.map((item) => this.#fillAll(item));
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [this.#fill(key), this.#fillAll(item)]));
  }
}

function placeOf(body: unknown, place: string): unknown {
  const [, name, field] = /^\[(.+)\]\.(\w+)$/.exec(place) ?? [];
  if (name !== undefined) {
    const items = Array.isArray(body) ? (body as Record<string, unknown>[]) : [];
    return items.find((item) => item.name === name || item.username === name)?.[field ?? ''];
  }
  return place.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown> | null | undefined)?.[key], body);
}

/** Returns an empty qcow2 image of 1 MiB. `mark` makes its checksum differ from that of others. */
function disk(mark: number): Buffer {
  const cluster = 65_536;
  const bytes = Buffer.alloc(cluster * 4);
  bytes.write('QFI\u00fb', 0, 'latin1');
  const words: [offset: number, value: number][] = [
    [4, 2],
    [20, 16],
    [36, 1],
    [56, 1],
  ];
  for (const [offset, value] of words) bytes.writeUInt32BE(value, offset);
  const offsets: [offset: number, value: number][] = [
    [24, 2 ** 20],
    [40, cluster * 3],
    [48, cluster],
    [300, mark],
    [cluster, cluster * 2],
  ];
  for (const [offset, value] of offsets) bytes.writeBigUInt64BE(BigInt(value), offset);
  for (let index = 0; index < 4; index++) bytes.writeUInt16BE(1, cluster * 2 + index * 2);
  return bytes;
}
