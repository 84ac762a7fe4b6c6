/**
 * Sends images that this server has to computes that lack them. An image goes to a compute once at a time, however many nodes wait for
 * it. It is read from the local compute and summed on the way; what has arrived must have the same sum.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { fault, isFault } from '../../api/faults.ts';
import type { NodeType } from '../../schema/node.ts';
import type { RegisteredCompute } from './compute.ts';

export interface WantedImage {
  readonly compute: RegisteredCompute;
  readonly nodeType: NodeType;
  /** As the compute named it: a name, or a path. Only its last part counts. */
  readonly image: string;
  /** Of the image that is meant, where that is known. */
  readonly md5sum: string | undefined;
}

/** For listeners: `log.info` before and after, `image.progress` in between. */
export type NotifyProgress = (action: string, event: object) => void;

type ImagesPath = `/v2/compute/${NodeType}/images`;

const progressMs = 500;
/** The sum of a large image is worked out by the compute in its own time; it is waited for at most so long. */
const sumLimitMs = 120_000;
const sumEveryMs = 500;

export class ImageTransfers {
  readonly #local: () => RegisteredCompute;
  /** By compute, kind and name. */
  readonly #going = new Map<string, Promise<boolean>>();

  constructor(local: () => RegisteredCompute) {
    this.#local = local;
  }

  /** False when this server has no such image, or another one of that name. @throws `image_damaged`, and why it could not be sent */
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
    const source = await local.raw('GET', `${images}/${name}`).catch((error: unknown) => {
      if (isFault(error, 'image_missing')) return undefined;
      throw error;
    });
    if (!source) return false;
    const where = compute.record.name;
    notify('log.info', { message: `Sending the missing image ${name} to the compute ${where}` });
    const hash = createHash('md5');
    const subject = { compute_id: compute.id, image: name };
    const bytes = source.body instanceof Readable ? source.body : Readable.from([source.body]);
    const onBytes = progressOf(subject, listed?.filesize ?? null, notify);
    const sent = Readable.from(summed(bytes, hash, onBytes), { objectMode: false });
    // A compute that refuses does not read the rest.
    await compute.transport.raw('POST', `${images}/${name}`, sent).finally(() => bytes.destroy());
    await this.#check({ compute, images, name, sum: hash.digest('hex') });
    notify('log.info', { message: `The image ${name} is on the compute ${where} now` });
    return true;
  }

  /** A compute that does not list the sum in time is trusted. */
  async #check({
    compute,
    images,
    name,
    sum,
  }: {
    compute: RegisteredCompute;
    images: ImagesPath;
    name: string;
    sum: string;
  }): Promise<void> {
    for (const end = performance.now() + sumLimitMs; performance.now() < end; await wait(sumEveryMs)) {
      const listed = await compute.transport.call(`GET ${images}`, { timeoutMs: sumLimitMs });
      const arrived = listed.find(({ filename }) => filename === name);
      // Files of other kinds than it would list are not listed.
      if (!arrived || arrived.md5sum === sum) return;
      if (arrived.md5sum !== null) throw fault('image_damaged', { image: name, name: compute.record.name });
    }
  }
}

/** Undefined for what is no name of a file. */
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
  let done_bytes = 0;
  let next = 0;
  return (bytes: number): void => {
    done_bytes += bytes;
    const now = performance.now();
    if (now < next && done_bytes !== total_bytes) return;
    next = now + progressMs;
    notify('image.progress', { ...subject, done_bytes, total_bytes });
  };
}
