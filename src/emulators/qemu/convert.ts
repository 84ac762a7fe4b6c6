/** Disks of other programs, made disks of QEMU: VDI, VMDK and others of the image folder become qcow2 beside it. */
import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fault, isFault } from '../../api/faults.ts';
import { refuseImageName } from '../../lib/base-name.ts';
import { DiskFloor } from '../../lib/disk-floor.ts';
import type { ImageFormat } from '../../lib/disk-image/image.ts';
import { FairLimit } from '../../lib/fair-limit.ts';
import { makeFolders } from '../../lib/make-folders.ts';
import { Name, named, strict } from '../../schema/common.ts';
import { Type } from '../../schema/type.ts';
import type { ConfinedTools } from '../host/confined-tools.ts';
import type { Host } from '../host/host.ts';
import { unfinishedEnd } from '../host/images.ts';
import type { Binaries } from './binaries.ts';
import { readLink } from './image-chain.ts';
import { qemuImages } from './kind.ts';
import { QemuImg } from './qemu-img.ts';
import type { RawDisks } from './raw-disks.ts';
import { UnfinishedImages } from './unfinished-images.ts';

export const ImgConvert = Type.Object(
  { source: Name({ description: 'An image: a name in the image folders, or a path' }) },
  strict,
);
export const ImgConverted = Type.Object(
  { filename: Type.String({ description: 'In the image folder' }), virtual_size: Type.Integer({ description: 'Bytes' }) },
  named('ImgConverted'),
);
export const ImgConversions = Type.Array(
  Type.Object(
    {
      source: Type.String(),
      filename: Type.String(),
      written: Type.Integer({ description: 'Bytes so far' }),
      size: Type.Integer(),
    },
    named('ImgConversion'),
  ),
);

const convertible: readonly string[] = ['vdi', 'vmdk', 'vpc', 'vhdx'];
/** More would only take the disk from each other, and from the machines that run. */
const mostAtOnce = 2;

interface Running {
  readonly source: string;
  readonly filename: string;
  /** Where it is written to. */
  readonly file: string;
  /** Size of the source, bytes. */
  readonly size: number;
}

interface Conversion {
  readonly path: string;
  readonly format: ImageFormat;
  readonly target: string;
  /** Size of the source, bytes. */
  readonly size: number;
}

export class ImageConverter {
  readonly #host: Host;
  readonly #binaries: Binaries;
  readonly #rawDisks: RawDisks;
  readonly #tools: ConfinedTools;
  /** Conversions by the path of their target, including queued ones. */
  readonly #running = new Map<string, Running>();
  readonly #unfinished: UnfinishedImages;
  readonly #turns = new FairLimit({ total: mostAtOnce, each: mostAtOnce });

  constructor(host: Host, { binaries, rawDisks, tools }: { binaries: Binaries; rawDisks: RawDisks; tools: ConfinedTools }) {
    this.#host = host;
    this.#binaries = binaries;
    this.#rawDisks = rawDisks;
    this.#tools = tools;
    this.#unfinished = new UnfinishedImages(join(host.settings.dataDirectory, 'state', 'unfinished-images.json'));
    void this.#unfinished.recover();
  }

  /** @throws image_missing, image_not_allowed, image_refused, qemu_failed, tool_missing, storage_failed */
  async convert(source: string): Promise<{ filename: string; virtual_size: number }> {
    const images = this.#host.images.of(qemuImages);
    const program = await this.#binaries.inPath('qemu-img');
    if (program === undefined) throw fault('tool_missing', { tool: 'qemu-img', package: 'qemu-utils' });
    const path = await images.resolve(source);
    const { format, reference } = await readLink(path, this.#rawDisks);
    const refuse = (reason: string) => fault('image_refused', { image: source, reason });
    if (reference !== undefined) throw refuse('it is the difference to another file: make one file of it');
    if (!convertible.includes(format)) throw refuse(`it is ${format}, which needs no conversion`);
    const filename = `${basename(path).replace(/\.\w{1,8}$/, '')}.qcow2`;
    const badName = refuseImageName(filename);
    if (badName !== undefined) throw refuse(badName);
    const target = join(images.directory, filename);
    const { size } = await stat(path);
    const exists = (await stat(target).catch(() => undefined)) !== undefined;
    if (exists || this.#running.has(target))
      throw fault('qemu_failed', { reason: `The image "${filename}" exists already: rename it or "${source}"` });
    // Nothing is awaited between look and entry: of two requests one converts.
    this.#running.set(target, { source, filename, file: join(`${target}${unfinishedEnd}`, filename), size });
    try {
      await makeFolders(images.directory);
      const img = new QemuImg(program, this.#tools);
      const { virtualSize } = await img.info(path, format);
      await this.#turns.run(target, () => this.#write(img, { path, format, target, size }));
      return { filename, virtual_size: virtualSize };
    } catch (cause) {
      if (isFault(cause)) throw cause;
      // A name that is too long, a full disk, no rights.
      throw fault('storage_failed', { reason: (cause as Error).message }, { cause });
    } finally {
      this.#running.delete(target);
    }
  }

  async #write(img: QemuImg, { path, format, target, size }: Conversion): Promise<void> {
    await this.#requireSpace(dirname(target), size);
    await this.#unfinished.during(target, () => img.convert(path, format, target));
  }

  /** Lists the running and the queued conversions. */
  list(): Promise<{ source: string; filename: string; written: number; size: number }[]> {
    const rows = [...this.#running.values()].map(async ({ source, filename, file, size }) => {
      const facts = await stat(file).catch(() => undefined);
      return { source, filename, written: facts ? facts.blocks * 512 : 0, size };
    });
    return Promise.all(rows);
  }

  async #requireSpace(folder: string, bytes: number): Promise<void> {
    const floor = new DiskFloor([folder], this.#host.settings.Server.min_free_bytes);
    await floor.check(bytes).catch((cause: Error) => {
      throw fault('disk_floor', { reason: cause.message }, { cause });
    });
  }
}
