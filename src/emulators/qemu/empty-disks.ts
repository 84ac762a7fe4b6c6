/** The empty disks that appliances name, `empty8G.qcow2` to `empty1T.qcow2`: made in the image folder when a node asks for one. */
import { join } from 'node:path';
import { isFault } from '../../api/faults.ts';
import { makeFolders } from '../../lib/make-folders.ts';
import { Mutex } from '../../lib/mutex.ts';
import type { ConfinedTools } from '../host/confined-tools.ts';
import type { ImageFolder } from '../host/images.ts';
import type { Binaries } from './binaries.ts';
import { QemuImg } from './qemu-img.ts';

/** GNS3's: those that appliances name. */
const sizes = ['8G', '10G', '20G', '30G', '40G', '50G', '100G', '150G', '200G', '250G', '500G', '1T'];

export class EmptyDisks {
  readonly #images: ImageFolder;
  readonly #binaries: Pick<Binaries, 'inPath'>;
  readonly #tools: ConfinedTools;
  readonly #making = new Mutex();

  constructor(images: ImageFolder, binaries: Pick<Binaries, 'inPath'>, tools: ConfinedTools) {
    this.#images = images;
    this.#binaries = binaries;
    this.#tools = tools;
  }

  /**
   * Accepts an image like `images.accept`, and makes the empty disk that the reference names. @throws image_missing, image_not_allowed,
   * qemu_failed
   */
  async accept(reference: string, projectDirectory: string): Promise<string> {
    const size = sizes.find((one) => reference === `empty${one}.qcow2`);
    if (size !== undefined) await this.#making.run(() => this.#provide(reference, size));
    return this.#images.accept(reference, projectDirectory);
  }

  async #provide(name: string, size: string): Promise<void> {
    const isMissing = await this.#images.resolve(name).then(
      () => false,
      (error: unknown) => isFault(error, 'image_missing'),
    );
    const program = isMissing ? await this.#binaries.inPath('qemu-img') : undefined;
    if (program === undefined) return;
    await makeFolders(this.#images.directory);
    await new QemuImg(program, this.#tools).create(join(this.#images.directory, name), 'qcow2', [], size);
  }
}
