/**
 * The durable home of captures: a map by project, link and capture in `state/captures.log`. They are this server's: the project
 * file's format has no place for them, and a copy of a project captures nothing. A compute keeps with each NIO what it writes by
 * itself until the controller is back; what the two disagree on is reconciled when a project is opened.
 */
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { DurableMap } from '../../../lib/durable-map.ts';
import type { Warn } from '../../../lib/set-aside.ts';
import { type CaptureOptions, gns3CaptureId } from '../../../schema/capture.ts';
import { storageFailed } from '../../log/project-log.ts';
import type { StoredCapture } from './stored-capture.ts';

/** The captures of one project. */
export interface ProjectCaptureStore {
  read(): [linkId: string, capture: StoredCapture][];
  /** Durable; a capture that has ended is deleted unless it is GNS3's. @throws `storage_failed` */
  set(linkId: string, capture: StoredCapture): Promise<void>;
  /** Durable. @throws `storage_failed` */
  delete(linkId: string, captureId: string): Promise<void>;
}

/** Format of 0.1: the waiting captures of a project as one list, under the project's id. */
interface OldCapture extends CaptureOptions {
  readonly link_id: string;
  readonly capture_id?: string | null;
  readonly capture_file_name: string;
}
type StoredCaptures = DurableMap<StoredCapture | readonly OldCapture[]>;

export class CaptureStore {
  readonly #map: StoredCaptures;

  private constructor(map: StoredCaptures) {
    this.#map = map;
  }

  /** @param warn records of a damaged file that cannot be read are left out */
  static async open(stateDirectory: string, warn: Warn): Promise<CaptureStore> {
    const map: StoredCaptures = await DurableMap.open(join(stateDirectory, 'captures.log'), warn);
    await upgradeLists(map);
    await upgradeNames(map, join(stateDirectory, 'capture-names.log'), warn);
    return new CaptureStore(map);
  }

  of(projectId: string): ProjectCaptureStore {
    const refused = (error: unknown) => {
      throw storageFailed(error);
    };
    const remove = (linkId: string, captureId: string) => this.#map.delete(keyOf(projectId, linkId, captureId)).catch(refused);
    return {
      read: () => this.#keysOf(projectId).map(([key, capture]) => [key.split('/', 2)[1] ?? '', capture]),
      set: async (linkId, capture) => {
        const { capture_id: id } = capture;
        if (capture.state === 'ended' && id !== gns3CaptureId) return remove(linkId, id);
        const key = keyOf(projectId, linkId, id);
        if (!isDeepStrictEqual(this.#map.get(key), capture)) await this.#map.set(key, capture).catch(refused);
      },
      delete: remove,
    };
  }

  /** The project is deleted. */
  async forget(projectId: string): Promise<void> {
    await Promise.all(this.#keysOf(projectId).map(([key]) => this.#map.delete(key)));
  }

  close(): Promise<void> {
    return this.#map.close();
  }

  #keysOf(projectId: string): [key: string, capture: StoredCapture][] {
    return [...this.#map.entries()].filter((entry): entry is [string, StoredCapture] => entry[0].startsWith(`${projectId}/`));
  }
}

function keyOf(projectId: string, linkId: string, captureId: string): string {
  return `${projectId}/${linkId}/${captureId}`;
}

async function upgradeLists(map: StoredCaptures): Promise<void> {
  for (const [projectId, list] of [...map.entries()]) {
    if (!Array.isArray(list)) continue;
    for (const { link_id, capture_id, ...facts } of list as readonly OldCapture[]) {
      const id = capture_id ?? gns3CaptureId;
      await map.set(keyOf(projectId, link_id, id), { ...facts, capture_id: id, state: 'waiting' });
    }
    await map.delete(projectId);
  }
}

/** 0.1 stored the names of the last files of links in a map of its own, by project and link. */
async function upgradeNames(map: StoredCaptures, path: string, warn: Warn): Promise<void> {
  if (!(await isFile(path))) return;
  const names = await DurableMap.open<string>(path, warn);
  const options = { data_link_type: 'DLT_EN10MB', side: 'after', nanoseconds: false, max_bytes: null, ends_at: null } as const;
  for (const [place, capture_file_name] of names.entries()) {
    const key = `${place}/${gns3CaptureId}`;
    const ended: StoredCapture = { capture_id: gns3CaptureId, capture_file_name, ...options, state: 'ended' };
    if (!map.has(key)) await map.set(key, ended);
  }
  await names.close();
  await rm(path);
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}
