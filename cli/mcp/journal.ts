/** Stores the previews that an agent may confirm, and the changes that it may undo. Both are lost when the process ends. */
import { randomBytes } from 'node:crypto';
import type { Undo } from './change.ts';

const mostPreviews = 64;
const mostChanges = 256;
/** Validity of a preview, ms. */
const validMs = 900_000;

export interface Preview {
  /** The call: the tool and its input. */
  readonly call: string;
  readonly text: string;
}

export class ChangeJournal {
  readonly #previews = new Map<string, Preview & { readonly until: number }>();
  readonly #changes = new Map<string, { readonly what: string; readonly undo: Undo }>();

  /** Stores a preview. @returns the token that confirms it */
  addPreview(preview: Preview): string {
    const token = randomBytes(6).toString('hex');
    this.#previews.set(token, { ...preview, until: performance.now() + validMs });
    dropOldest(this.#previews, mostPreviews);
    return token;
  }

  /** Uses up a token; undefined for a token of another call, or a used or expired one. */
  takePreview(token: string, call: string): Preview | undefined {
    const preview = this.#previews.get(token);
    if (preview?.call !== call) return undefined;
    this.#previews.delete(token);
    return performance.now() < preview.until ? preview : undefined;
  }

  addChange(id: string, what: string, undo: Undo): void {
    this.#changes.set(id, { what, undo });
    dropOldest(this.#changes, mostChanges);
  }

  findChange(id: string): { readonly what: string; readonly undo: Undo } | undefined {
    return this.#changes.get(id);
  }

  /** Lists the changes, the last one first. */
  listChanges(): string[] {
    return Array.from(this.#changes, ([id, { what }]) => `${id} (${what})`).toReversed();
  }

  deleteChange(id: string): void {
    this.#changes.delete(id);
  }
}

function dropOldest(map: Map<string, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return;
    map.delete(key);
  }
}
