/**
 * Images and the requests that are under way: one that a node is being made or changed to use is not deleted, and a node that comes
 * while its image is deleted waits, and then finds that it is missing.
 */
import { basename } from 'node:path';
import { fault } from '../../api/faults.ts';
import type { Properties } from '../../emulators/driver.ts';
import type { Kind } from '../../emulators/kind.ts';

/** A node that has, or will have, these properties. */
interface ImageUser {
  readonly kind: Kind;
  readonly name: string;
  readonly properties: Properties;
}

export class ImageClaims {
  readonly #claims = new Set<ImageUser>();
  /** Running removals by folder and name of the image. Each promise resolves when the image is gone, and never rejects. */
  readonly #removals = new Map<string, Promise<unknown>>();

  /** Runs what makes or changes a node. */
  async during<T>(user: ImageUser, work: () => Promise<T>): Promise<T> {
    for (let removal = this.#removalFor(user); removal; removal = this.#removalFor(user)) await removal;
    this.#claims.add(user);
    try {
      return await work();
    } finally {
      this.#claims.delete(user);
    }
  }

  /** Runs what deletes an image of a kind, which none of `nodes` may use. @throws image_in_use */
  async remove(image: { readonly kind: Kind; readonly name: string }, nodes: Iterable<ImageUser>, work: () => Promise<void>) {
    const name = basename(image.name);
    const users = [...nodes, ...this.#claims].filter((user) => uses(user, image.kind, name)).map((user) => `"${user.name}"`);
    if (users.length > 0) throw fault('image_in_use', { image: image.name, users: [...new Set(users)].join(', ') });
    const key = keyOf(image.kind, name);
    // Nothing is awaited between look and entry.
    const before = this.#removals.get(key);
    const removal = (async () => {
      await before;
      await work();
    })();
    const settled = removal.catch(() => undefined);
    this.#removals.set(key, settled);
    try {
      await removal;
    } finally {
      if (this.#removals.get(key) === settled) this.#removals.delete(key);
    }
  }

  #removalFor({ kind, properties }: ImageUser): Promise<unknown> | undefined {
    if (this.#removals.size === 0) return undefined;
    const names = Object.values(properties).flatMap((value) => (typeof value === 'string' ? [basename(value)] : []));
    return names.map((name) => this.#removals.get(keyOf(kind, name))).find((removal) => removal !== undefined);
  }
}

/** Kinds may share a folder. */
function keyOf({ images }: Kind, name: string): string {
  return `${images?.folder}/${name}`;
}

function uses({ kind, properties }: ImageUser, { images }: Kind, image: string): boolean {
  if (kind.images?.folder !== images?.folder) return false;
  return Object.values(properties).some((value) => typeof value === 'string' && basename(value) === image);
}
