/**
 * Brings an image to several computes while it leaves this server once.
 *
 * Theory of operation. An image is known by its SHA-256. A compute that lacks it reads it from one that has it, which it tries in
 * turn: those at its own address first, then those that serve the fewest others. Only where there is none, or where none can be
 * read, this server sends it itself; computes that need the same image meanwhile wait for that, and then read it from the first.
 * Every source gives it piece by piece and continues where the one before ended; the compute checks the whole.
 */
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { fault, isFault } from '../../api/faults.ts';
import { KeyedMutex } from '../../lib/mutex.ts';
import type { ImageDeparture } from '../../schema/image-transfer.ts';
import type { NodeType } from '../../schema/node.ts';
import type { RegisteredCompute } from './compute.ts';

interface SpreadImage {
  readonly nodeType: NodeType;
  readonly filename: string;
  /** MD5 sum of this server's copy; null: not known yet. */
  readonly md5sum: string | null;
  /** Departure that the local compute opened for the image. */
  readonly departure: ImageDeparture;
}

interface Bringing {
  readonly image: SpreadImage;
  readonly to: RegisteredCompute;
  /** Computes from which it could not be read. */
  readonly failed: Set<string>;
  readonly onBytes: (received: number) => void;
}

interface Holder {
  readonly compute: RegisteredCompute;
  /** Name of the image with the same content on that compute. */
  readonly filename: string;
}

const pieceBytes = 2 ** 23;
/** A piece must arrive within this time. */
const pieceTimeoutMs = 120_000;
/** A compute that does not list its images in time is not read from. */
const listTimeoutMs = 15_000;
/** A compute sums a large image before it offers it, and when it has arrived: at 10 MB/s at least, which a disk that others use as well may have. */
export const sumTimeoutMs = (bytes: number) => Math.min(600_000 + Math.ceil(bytes / 10_000), longestSumMs);
const longestSumMs = 86_400_000;
/** A compute that is lost or starts again is awaited so often without another byte. */
const mostBreaks = 8;
/** Limit of unreadable computes that are tried, up to ten seconds each, before this server sends the image itself. */
const mostFailed = 3;
const breakMs = 1_000;

export class ImageSpread {
  readonly #local: () => RegisteredCompute;
  readonly #all: () => readonly RegisteredCompute[];
  /** Images that this server is sending, by SHA-256. The promises never reject. */
  readonly #leaving = new Map<string, Promise<void>>();
  /** Number of transfers that read from a compute, by compute. */
  readonly #readers = new Map<string, number>();
  /** Serialises transfers by compute and SHA-256: content that arrives under two names is one file until it is complete. */
  readonly #arriving = new KeyedMutex();

  constructor(local: () => RegisteredCompute, all: () => readonly RegisteredCompute[]) {
    this.#local = local;
    this.#all = all;
  }

  /** Answers the name of the compute that it was read from. @throws why it could not be brought */
  bring(image: SpreadImage, to: RegisteredCompute, onBytes: (received: number) => void): Promise<string> {
    return this.#arriving.run(`${to.id} ${image.departure.sha256}`, () => this.#bring(image, to, onBytes));
  }

  async #bring(image: SpreadImage, to: RegisteredCompute, onBytes: (received: number) => void): Promise<string> {
    let breaks = 0;
    let most = 0;
    const bringing: Bringing = {
      ...{ image, to, failed: new Set() },
      onBytes: (received) => {
        if (received > most) breaks = 0;
        most = Math.max(most, received);
        onBytes(received);
      },
    };
    for (;;) {
      try {
        return await this.#attempt(bringing);
      } catch (error) {
        if (!isBreak(error) || ++breaks > mostBreaks) throw error;
        await wait(breakMs);
      }
    }
  }

  async #attempt(bringing: Bringing): Promise<string> {
    const { sha256 } = bringing.image.departure;
    for (;;) {
      const holder = await this.#findHolder(bringing);
      if (holder) {
        if (await this.#read(bringing, holder)) return holder.compute.record.name;
        bringing.failed.add(holder.compute.id);
        continue;
      }
      const leaving = this.#leaving.get(sha256);
      if (!leaving) break;
      await leaving;
    }
    // Nothing is awaited between look and entry.
    const sending = this.#send(bringing);
    const settled = sending.catch(() => undefined).then(() => undefined);
    this.#leaving.set(sha256, settled);
    await sending.finally(() => this.#leaving.delete(sha256));
    return this.#local().record.name;
  }

  /** The best of those that have it and were not tried. */
  async #findHolder({ image, to, failed }: Bringing): Promise<Holder | undefined> {
    if (failed.size >= mostFailed) return undefined;
    const readable = this.#all().filter((compute) => {
      const { connected } = compute.transport.state;
      // Another host does not reach it at such an address.
      const isReached = !compute.isHere || to.isHere;
      return connected && isReached && !compute.isLocal && compute.hasImageTransfers && !failed.has(compute.id);
    });
    const found = await Promise.all(readable.map((compute) => findImage(compute, image)));
    const costOf = ({ compute }: Holder) =>
      (this.#readers.get(compute.id) ?? 0) + (compute.record.host === to.record.host ? 0 : 1_000_000);
    return found.filter((holder) => holder !== undefined).sort((one, other) => costOf(one) - costOf(other))[0];
  }

  /**
   * Has the image read from another compute. Returns false when it could not be read there. @throws when the reading compute fails
   */
  async #read(bringing: Bringing, { compute, filename }: Holder): Promise<boolean> {
    const { image, to } = bringing;
    const choice = { body: { node_type: image.nodeType, filename }, timeoutMs: sumTimeoutMs(image.departure.filesize) };
    const departure = await compute.transport.call('POST /v2/compute/image_departures', choice).catch(() => undefined);
    if (!departure) return false;
    this.#readers.set(compute.id, (this.#readers.get(compute.id) ?? 0) + 1);
    try {
      if (departure.sha256 !== image.departure.sha256 || departure.filesize !== image.departure.filesize) return false;
      const { protocol, host, port } = compute.record;
      const source = { protocol, host, port, departure_id: departure.departure_id, secret: departure.secret, bytes: pieceBytes };
      let { arrival_id, received } = await begin(bringing);
      while (received < departure.filesize) {
        const wanted = Math.min(received + pieceBytes, departure.filesize);
        const call = { path: { arrival_id }, body: source, timeoutMs: pieceTimeoutMs };
        const next = await to.transport.call('POST /v2/compute/image_arrivals/{arrival_id}/fetch', call).catch(unlessBreak);
        // A source that gives a byte now and then would hold up its readers for ever.
        if (!next || next.received < wanted) return false;
        received = next.received;
        bringing.onBytes(received);
      }
      return await finish(bringing, arrival_id);
    } finally {
      this.#readers.set(compute.id, (this.#readers.get(compute.id) ?? 1) - 1);
      await endDeparture(compute, departure);
    }
  }

  /** Sends the image from this server. @throws image_damaged, and why it could not be sent */
  async #send(bringing: Bringing): Promise<void> {
    const { image, to } = bringing;
    const { departure_id, secret, filesize } = image.departure;
    const local = this.#local().transport;
    // The second attempt sends the whole image again, because pieces from other sources may have been wrong.
    for (let attempt = 0; attempt < 2; attempt++) {
      let { arrival_id, received } = await begin(bringing);
      while (received < filesize) {
        const piece = Buffer.from(JSON.stringify({ secret, from: received, bytes: pieceBytes }));
        const { body } = await local.raw('POST', `/v2/compute/image_departures/${departure_id}/bytes`, piece);
        const bytes = body instanceof Readable ? body : Readable.from([body]);
        const place = `/v2/compute/image_arrivals/${arrival_id}/bytes/${received}`;
        // A compute that refuses does not read the rest.
        await to.transport.raw('POST', place, bytes, AbortSignal.timeout(pieceTimeoutMs)).finally(() => bytes.destroy());
        const next = await begin(bringing);
        // A compute that takes a byte now and then would hold up the transfers that wait for it.
        if (next.received < Math.min(received + pieceBytes, filesize)) throw damaged(bringing);
        ({ arrival_id, received } = next);
      }
      if (await finish(bringing, arrival_id)) return;
    }
    throw damaged(bringing);
  }
}

/** Ends the departure of an image. Never rejects: an unreachable compute forgets it by its own timeout. */
export async function endDeparture({ transport }: RegisteredCompute, { departure_id }: ImageDeparture): Promise<void> {
  const call = { path: { departure_id } };
  await transport.send('DELETE /v2/compute/image_departures/{departure_id}', call).catch(() => undefined);
}

/** Begins a transfer, or continues one from the bytes that have arrived. */
async function begin({ image, to, onBytes }: Bringing): Promise<{ arrival_id: string; received: number }> {
  const { nodeType: node_type, filename, departure } = image;
  const body = { node_type, filename, filesize: departure.filesize, sha256: departure.sha256 };
  const arrival = await to.transport.call('POST /v2/compute/image_arrivals', { body });
  onBytes(arrival.received);
  return arrival;
}

/** False: what arrived is something else. */
async function finish({ image, to }: Bringing, arrival_id: string): Promise<boolean> {
  const call = { path: { arrival_id }, timeoutMs: sumTimeoutMs(image.departure.filesize) };
  return (await to.transport.call('POST /v2/compute/image_arrivals/{arrival_id}/finish', call)).placed;
}

/** A large image has no MD5 sum for a while after it came: its name and its size count until then, and its SHA-256 is compared later. */
async function findImage(compute: RegisteredCompute, image: SpreadImage): Promise<Holder | undefined> {
  const { nodeType, filename, md5sum, departure } = image;
  const listed = await compute.transport.call(`GET /v2/compute/${nodeType}/images`, { timeoutMs: listTimeoutMs }).catch(() => []);
  const found = listed.find((one) => {
    if (one.filesize !== departure.filesize) return false;
    return md5sum !== null && one.md5sum ? one.md5sum === md5sum : one.filename === filename;
  });
  return found && { compute, filename: found.filename };
}

function damaged({ image, to }: Bringing): Error {
  return fault('image_damaged', { image: image.filename, name: to.record.name });
}

/** The reading compute refuses, such as the address of the other one. @throws a break */
function unlessBreak(error: unknown): undefined {
  if (isBreak(error)) throw error;
}

/** The compute is lost, or has started again and does not know the transfer. */
function isBreak(error: unknown): boolean {
  const codes = ['compute_unreachable', 'compute_timeout', 'compute_route_missing'] as const;
  return codes.some((code) => isFault(error, code));
}
