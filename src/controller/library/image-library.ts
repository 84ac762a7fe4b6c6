/** The images of this server as GNS3 3 shows them: the files of the local compute, together with their users. */
import { basename } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { fault, isFault } from '../../api/faults.ts';
import { isEmptyDisk } from '../../schema/appliance.ts';
import type { StoredImage } from '../../schema/host.ts';
import type { ImageUse } from '../../schema/image-use.ts';
import type { NodeType } from '../../schema/node.ts';
import type { Templates } from '../catalog/templates.ts';
import { localComputeId } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import { imageFolderOf, imageProperties } from '../model/node-images.ts';
import { imageUses, requireUnused } from '../projects/image-uses.ts';
import type { KnownProjects } from '../projects/projects.ts';

interface LibraryParts {
  readonly computes: Pick<Computes, 'local'>;
  readonly templates: Pick<Templates, 'list'>;
  readonly projects: Pick<KnownProjects, 'all'>;
}

const isUsed = ({ templates, nodes }: ImageUse) => templates.length + nodes.length > 0;

/** Settings of a template or node, as far as they name images. */
interface NamesImages {
  readonly node_type: NodeType;
  readonly compute_id: string | null | undefined;
  readonly properties: Readonly<Record<string, unknown>>;
}

export class ImageLibrary {
  readonly #parts: LibraryParts;

  constructor(parts: LibraryParts) {
    this.#parts = parts;
  }

  list(): Promise<readonly StoredImage[]> {
    return this.#transport.call('GET /v2/compute/images');
  }

  /** Finds an image by its file name, or by the end of its path. @throws image_not_found */
  async get(path: string): Promise<StoredImage> {
    const all = await this.list();
    const found =
      all.find((image) => image.path === path || `${image.folder}/${image.path}` === path) ??
      all.find((image) => image.filename === path) ??
      all.find((image) => `/${image.folder}/${image.path}`.endsWith(`/${path}`));
    if (!found) throw fault('image_not_found', { image: path });
    return found;
  }

  /** Takes an upload of a new name. @throws path_forbidden, image_refused, storage_failed */
  async add(path: string, source: Readable): Promise<StoredImage> {
    const { body } = await this.#transport.raw('POST', `/v2/compute/images/${path}`, source);
    const bytes = body instanceof Uint8Array ? Buffer.from(body) : await buffer(body);
    return JSON.parse(String(bytes)) as StoredImage;
  }

  /** Deletes an image that nothing uses. @throws image_not_found, image_in_use, path_forbidden, storage_failed */
  async remove(path: string): Promise<void> {
    const image = await this.get(path);
    await this.#removeUnused(image, await this.#uses(), await this.list());
  }

  /** Deletes the images that nothing uses, but for the empty disks that appliances name. @throws image_in_use, storage_failed */
  async prune(): Promise<void> {
    const uses = await this.#uses();
    for (let removed = true; removed; ) {
      removed = false;
      const all = await this.list();
      for (const image of all) {
        // Uploads go to another folder.
        if (image.path.startsWith('/') || isEmptyDisk(image.filename)) continue;
        try {
          await this.#removeUnused(image, uses, all);
          // The image that it was based on may be unused now.
          removed ||= image.based_on !== null;
        } catch (error) {
          if (!isFault(error, 'image_in_use') || uses.unread.length > 0) throw error;
        }
      }
    }
  }

  /**
   * Checks that the images of a template for this server are there. @throws image_not_found, and invalid_request for an image of another
   * kind
   */
  async requireImages({ node_type, compute_id, properties }: NamesImages): Promise<void> {
    if (imageFolderOf(node_type) === undefined || (compute_id || localComputeId) !== localComputeId) return;
    const names = imageProperties({ node_type, properties }).map((key) => String(properties[key]));
    const wanted = names.filter((name) => !name.startsWith('/') && !isEmptyDisk(name));
    if (wanted.length === 0) return;
    const all = await this.list();
    const isOfKind = (image: StoredImage) => image.folder === imageFolderOf(node_type);
    for (const name of wanted) {
      const found = all.filter((image) => image.filename === basename(name));
      if (found.length === 0) throw fault('image_not_found', { image: name });
      if (!found.some(isOfKind)) throw fault('invalid_request', { reason: `the image "${name}" is of another kind` });
    }
  }

  /** Checks that nothing but a template uses its images, and that they are here. @throws image_not_found, image_in_use */
  async requireOnlyUser(templateId: string, type: NodeType, names: readonly string[]): Promise<void> {
    const { images, unread } = await this.#uses();
    const others = images.map((use) => ({ ...use, templates: use.templates.filter((one) => one.template_id !== templateId) }));
    for (const name of names) requireUnused({ images: others.filter(isUsed), unread }, type, (await this.get(name)).filename);
  }

  /** Returns the images that no template and no node uses. */
  async unused(): Promise<StoredImage[]> {
    const { images } = await this.#uses();
    const used = new Set(images.map((use) => `${imageFolderOf(use.node_type)}/${use.image}`));
    return (await this.list()).filter((image) => !used.has(`${image.folder}/${image.filename}`));
  }

  #uses() {
    const { templates, projects } = this.#parts;
    return imageUses({ templates, projects: projects.all() }, localComputeId);
  }

  async #removeUnused(image: StoredImage, uses: Awaited<ReturnType<typeof imageUses>>, all: readonly StoredImage[]): Promise<void> {
    requireUnused(uses, image.node_type, image.filename);
    const based = all.find((one) => one.folder === image.folder && one.based_on === image.filename);
    if (based) throw fault('image_in_use', { image: image.filename, users: `the image "${based.filename}"` });
    await this.#transport.raw('DELETE', `/v2/compute/${image.node_type}/images/${image.path}`);
  }

  get #transport() {
    return this.#parts.computes.local.transport;
  }
}
