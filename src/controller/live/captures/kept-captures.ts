/**
 * What is remembered of captures: those that wait until they go on, and the name of the last file of each link. They are this
 * server's: the project file's format has no place for them, and a copy of a project captures nothing.
 */
import { join } from 'node:path';
import { DurableMap } from '../../../lib/durable-map.ts';
import type { Warn } from '../../../lib/set-aside.ts';
import type { CaptureOptions } from '../../../schema/capture.ts';
import { storageFailed } from '../../log/project-log.ts';

export interface KeptCapture extends CaptureOptions {
  readonly link_id: string;
  /** Absent or null: the link's own. */
  readonly capture_id?: string | null;
  readonly capture_file_name: string;
}

/** The part of them that is one project's. */
export interface CapturesOfProject {
  /** Those that wait. */
  read(): readonly KeptCapture[];
  /** Durable. @throws `storage_failed` */
  write(captures: readonly KeptCapture[]): Promise<void>;
  /** Link id and file of the last capture that was the link's own. */
  names(): [linkId: string, fileName: string][];
  /** Durable. @throws `storage_failed` */
  setName(linkId: string, fileName: string): Promise<void>;
  /** Durable. @throws `storage_failed` */
  forgetName(linkId: string): Promise<void>;
}

export class KeptCaptures {
  /** By project. */
  readonly #waiting: DurableMap<readonly KeptCapture[]>;
  /** By project and link: one is written for each capture that begins, whatever there are besides. */
  readonly #names: DurableMap<string>;

  private constructor(waiting: DurableMap<readonly KeptCapture[]>, names: DurableMap<string>) {
    this.#waiting = waiting;
    this.#names = names;
  }

  static async open(stateDirectory: string, warn: Warn): Promise<KeptCaptures> {
    return new KeptCaptures(
      await DurableMap.open(join(stateDirectory, 'captures.log'), warn),
      await DurableMap.open(join(stateDirectory, 'capture-names.log'), warn),
    );
  }

  of(projectId: string): CapturesOfProject {
    const [waiting, names] = [this.#waiting, this.#names];
    const refused = (error: unknown) => {
      throw storageFailed(error);
    };
    return {
      read: () => waiting.get(projectId) ?? [],
      write: (captures) => (captures.length > 0 ? waiting.set(projectId, captures) : waiting.delete(projectId)).catch(refused),
      names: () => this.#namesOf(projectId).map(([key, name]) => [key.slice(projectId.length + 1), name]),
      setName: async (linkId, fileName) => {
        const key = keyOf(projectId, linkId);
        if (names.get(key) !== fileName) await names.set(key, fileName).catch(refused);
      },
      forgetName: (linkId) => names.delete(keyOf(projectId, linkId)).catch(refused),
    };
  }

  /** The project is deleted. */
  async forget(projectId: string): Promise<void> {
    const names = this.#namesOf(projectId).map(([key]) => this.#names.delete(key));
    await Promise.all([this.#waiting.delete(projectId), ...names]);
  }

  async close(): Promise<void> {
    await Promise.all([this.#waiting.close(), this.#names.close()]);
  }

  #namesOf(projectId: string): [key: string, name: string][] {
    return [...this.#names.entries()].filter(([key]) => key.startsWith(keyOf(projectId, '')));
  }
}

function keyOf(projectId: string, linkId: string): string {
  return `${projectId}/${linkId}`;
}
