/**
 * Captures that were on when their project was closed, until they go on. They are this server's: the project file's format has no
 * place for them, and a copy of a project captures nothing.
 */
import { join } from 'node:path';
import { DurableMap } from '../../lib/durable-map.ts';
import type { CaptureOptions } from '../../schema/capture.ts';
import { storageFailed } from '../history/project-log.ts';

export interface KeptCapture extends CaptureOptions {
  readonly link_id: string;
  /** Absent or null: the link's own. */
  readonly capture_id?: string | null;
  readonly capture_file_name: string;
}

/** The part of them that is one project's. */
export interface CapturesOfProject {
  read(): readonly KeptCapture[];
  /** Durable. @throws `storage_failed` */
  write(captures: readonly KeptCapture[]): Promise<void>;
}

export class KeptCaptures {
  /** By project. */
  readonly #map: DurableMap<readonly KeptCapture[]>;

  private constructor(map: DurableMap<readonly KeptCapture[]>) {
    this.#map = map;
  }

  static async open(stateDirectory: string): Promise<KeptCaptures> {
    return new KeptCaptures(await DurableMap.open(join(stateDirectory, 'captures.log')));
  }

  of(projectId: string): CapturesOfProject {
    return {
      read: () => this.#map.get(projectId) ?? [],
      write: async (captures) => {
        try {
          await (captures.length > 0 ? this.#map.set(projectId, captures) : this.#map.delete(projectId));
        } catch (error) {
          throw storageFailed(error);
        }
      },
    };
  }

  /** The project is deleted. */
  forget(projectId: string): Promise<void> {
    return this.#map.delete(projectId);
  }

  close(): Promise<void> {
    return this.#map.close();
  }
}
