/**
 * Sends images that this server has to computes that lack them. An image goes to a compute once at a time, however many nodes
 * wait for it. Computes that can read it from each other do (`image-spread.ts`). To a stock one it is uploaded, and summed on the
 * way; what has arrived must have the same sum.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { fault, isFault } from '../../api/faults.ts';
import type { NodeType } from '../../schema/node.ts';
import type { RegisteredCompute } from './compute.ts';
import { endDeparture, ImageSpread } from './image-spread.ts';

interface WantedImage {
  readonly compute: RegisteredCompute;
  readonly nodeType: NodeType;
  /** Name or path by which the compute named the image. Only its last part counts. */
  readonly image: string;
  /** MD5 sum of the wanted image, where it is known. */
  readonly md5sum: string | undefined;
}

/** Notifies listeners: `log.info` before and after, `image.progress` in between. */
type NotifyProgress = (action: string, event: object) => void;

interface Destination {
  readonly compute: RegisteredCompute;
  readonly images: ImagesPath;
  readonly name: string;
}

interface Watchers {
  readonly starting: () => void;
  /** Receives the number of bytes sent so far. */
  readonly onBytes: (done: number) => void;
  readonly notify: NotifyProgress;
}

type ImagesPath = `/v2/compute/${NodeType}/images`;

const progressMs = 500;
/** The sum of a large image is worked out by the compute in its own time; it is waited for at most so long. */
const sumLimitMs = 120_000;
const sumEveryMs = 500;

export class ImageTransfers {
  readonly #local: () => RegisteredCompute;
  readonly #spread: ImageSpread;
  /** Running transfers by compute, kind and name. */
  readonly #going = new Map<string, Promise<boolean>>();

  constructor(local: () => RegisteredCompute, all: () => readonly RegisteredCompute[]) {
    this.#local = local;
    this.#spread = new ImageSpread(local, all);
  }

  /**
   * Sends an image. Returns false when this server has none of that name, or another one. @throws `image_damaged`, and why it could
   * not be sent
   */
  async send(wanted: WantedImage, notify: NotifyProgress): Promise<boolean> {
    const name = baseName(wanted.image);
    if (name === undefined) return false;
    const key = `${wanted.compute.id}/${wanted.nodeType}/${name}`;
    const going = this.#going.get(key) ?? this.#send(wanted, name, notify).finally(() => this.#going.delete(key));
    this.#going.set(key, going);
    return going;
  }

  async #send({ compute, nodeType, md5sum }: WantedImage, name: string, notify: NotifyProgress): Promise<boolean> {
    const images: ImagesPath = `/v2/compute/${nodeType}/images`;
    const local = this.#local().transport;
    const listed = (await local.call(`GET ${images}`)).find(({ filename }) => filename === name);
    if (md5sum !== undefined && listed?.md5sum && listed.md5sum !== md5sum) {
      notify('log.error', {
        message: `The image ${name} on this server is not the one of the project: its MD5 sum differs. Upload the right one to the compute`,
      });
      return false;
    }
    const where = compute.record.name;
    const starting = () => notify('log.info', { message: `Sending the missing image ${name} to the compute ${where}` });
    const onBytes = progressOf({ compute_id: compute.id, image: name }, listed?.filesize ?? null, notify);
    await compute.transport.connect();
    if (!compute.hasImageTransfers) return this.#upload({ compute, images, name }, { starting, onBytes, notify });
    const departure = await local
      .call('POST /v2/compute/image_departures', { body: { node_type: nodeType, filename: name } })
      .catch(noneIfMissing);
    if (!departure) return false;
    starting();
    const image = { nodeType, filename: name, md5sum: listed?.md5sum ?? null, departure };
    const source = await this.#spread.bring(image, compute, onBytes).finally(() => endDeparture(this.#local(), departure));
    notify('log.info', { message: `The image ${name} is on the compute ${where} now, copied from ${source}` });
    return true;
  }

  /** Uploads an image to a stock GNS3 compute. */
  async #upload({ compute, images, name }: Destination, { starting, onBytes, notify }: Watchers): Promise<boolean> {
    const source = await this.#local().transport.raw('GET', `${images}/${name}`).catch(noneIfMissing);
    if (!source) return false;
    starting();
    const hash = createHash('md5');
    const bytes = source.body instanceof Readable ? source.body : Readable.from([source.body]);
    let done = 0;
    const count = (more: number) => {
      done += more;
      onBytes(done);
    };
    const sent = Readable.from(summed(bytes, hash, count), { objectMode: false });
    // A compute that refuses does not read the rest.
    await compute.transport.raw('POST', `${images}/${name}`, sent).finally(() => bytes.destroy());
    await this.#check({ compute, images, name, sum: hash.digest('hex') });
    notify('log.info', { message: `The image ${name} is on the compute ${compute.record.name} now` });
    return true;
  }

  /** A compute that does not list the sum in time is trusted. */
  async #check({ compute, images, name, sum }: Destination & { readonly sum: string }): Promise<void> {
    for (const end = performance.now() + sumLimitMs; performance.now() < end; await wait(sumEveryMs)) {
      const listed = await compute.transport.call(`GET ${images}`, { timeoutMs: sumLimitMs });
      const arrived = listed.find(({ filename }) => filename === name);
      // Files of other kinds than it would list are not listed.
      if (!arrived || arrived.md5sum === sum) return;
      if (arrived.md5sum !== null) throw fault('image_damaged', { image: name, name: compute.record.name });
    }
  }
}

/** @throws any other error */
function noneIfMissing(error: unknown): undefined {
  if (!isFault(error, 'image_missing')) throw error;
}

/** Returns undefined when the text is no file name. */
function baseName(image: string): string | undefined {
  const name = image.split(/[/\\]/).at(-1) ?? '';
  return name === '' || name.startsWith('.') || name.includes('\0') ? undefined : name;
}

async function* summed(source: AsyncIterable<Buffer>, hash: ReturnType<typeof createHash>, onBytes: (bytes: number) => void) {
  for await (const chunk of source) {
    hash.update(chunk);
    onBytes(chunk.length);
    yield chunk;
  }
}

function progressOf(subject: { compute_id: string; image: string }, total_bytes: number | null, notify: NotifyProgress) {
  let next = 0;
  return (done_bytes: number): void => {
    const now = performance.now();
    if (now < next && done_bytes !== total_bytes) return;
    next = now + progressMs;
    notify('image.progress', { ...subject, done_bytes, total_bytes });
  };
}
