/** The drawings of an open project. */
import { isDeepStrictEqual } from 'node:util';
import { fault } from '../../../api/faults.ts';
import { KeyedMutex, Mutex } from '../../../lib/mutex.ts';
import type { DrawingPlacement } from '../../../schema/bulk.ts';
import type { Drawing, DrawingInput } from '../../../schema/drawing.ts';
import { storageFailed } from '../../log/project-log.ts';
import type { ProjectChange } from '../../log/records.ts';
import { assemble } from '../../model/canonical.ts';
import { type DrawingEntry, toDrawingEntry } from '../../model/topology.ts';
import { commitPrepared, type Prepared } from '../host/prepared.ts';
import type { Commit, ProjectContext } from '../host/project-context.ts';
import { isInFile, readPicture, shownSvg, storePicture } from './pictures.ts';

/**
 * Limit of the pictures in files that the drawings of a project file show together: a small archive may hold very many drawings that
 * name one large file. Others are shown as empty drawings, and stay as they are stored. Characters.
 */
const mostPictureLength = 2 ** 27;

interface OpenDrawing {
  readonly entry: DrawingEntry;
  readonly object: Readonly<Drawing>;
}

export class ProjectDrawings {
  readonly #context: ProjectContext;
  readonly #drawings = new Map<string, OpenDrawing>();
  /** Serialises the changes of each drawing. */
  readonly locks = new KeyedMutex();
  #list: readonly Readonly<Drawing>[] | undefined;
  #pictureLength = 0;
  readonly #files = new Mutex();

  constructor(context: ProjectContext) {
    this.#context = context;
  }

  get size(): number {
    return this.#drawings.size;
  }

  list(): readonly Readonly<Drawing>[] {
    this.#list ??= Object.freeze(Array.from(this.#drawings.values(), (drawing) => drawing.object));
    return this.#list;
  }

  entries(): DrawingEntry[] {
    return Array.from(this.#drawings.values(), (drawing) => drawing.entry);
  }

  /** @throws `drawing_not_found` */
  get(drawingId: string): Readonly<Drawing> {
    return this.#get(drawingId).object;
  }

  findEntry(drawingId: string): DrawingEntry | undefined {
    return this.#drawings.get(drawingId)?.entry;
  }

  /** The drawing that a stored `svg` stands for. */
  picture(stored: string): Promise<string> {
    return readPicture(this.#context.folder, stored);
  }

  /** Takes up a drawing of the project file. */
  async add(entry: DrawingEntry): Promise<void> {
    const svg = isInFile(entry.svg) ? await this.#files.run(() => this.#readFile(entry.svg)) : entry.svg;
    this.#put({ entry, object: this.#objectOf(entry, svg) });
  }

  /** Makes a drawing; one that has this id already is returned as it is. */
  create(body: DrawingInput): Promise<Readonly<Drawing>> {
    const drawingId = body.drawing_id ?? crypto.randomUUID();
    return this.locks.run(drawingId, async () => {
      const existing = this.#drawings.get(drawingId);
      if (existing) return existing.object;
      const prepared = await this.prepare({ ...body, drawing_id: drawingId });
      await commitPrepared(this.#context, [prepared]);
      return prepared.result();
    });
  }

  /** A new drawing whose picture is stored. @throws `drawing_id_taken`, `storage_failed` */
  async prepare(body: DrawingInput): Promise<Prepared<Readonly<Drawing>>> {
    const drawing_id = body.drawing_id ?? crypto.randomUUID();
    if (this.#drawings.has(drawing_id)) throw fault('drawing_id_taken', { drawing_id });
    const svg = shownSvg(body.svg ?? '');
    const entry = toDrawingEntry({ ...body, drawing_id, svg: await this.#store(svg) });
    const drawing = { entry, object: this.#objectOf(entry, svg) };
    const apply = () => {
      this.#put(drawing);
      return drawing.object;
    };
    const change: ProjectChange = {
      action: 'drawing.created',
      event: { ...drawing.object, svg: entry.svg },
      was: null,
      undoable: true,
    };
    // A picture that nothing refers to goes when the project is closed.
    return { commit: { change, apply }, revert: async () => undefined, result: () => drawing.object };
  }

  async update(drawingId: string, body: DrawingInput): Promise<Readonly<Drawing>> {
    this.#get(drawingId);
    return this.locks.run(drawingId, async () => {
      const before = this.#get(drawingId);
      const svg = body.svg === undefined ? before.object.svg : shownSvg(body.svg);
      const isOtherPicture = svg !== before.object.svg;
      const stored = isOtherPicture ? await this.#store(svg) : before.entry.svg;
      const entry = toDrawingEntry({ ...before.entry, ...body, drawing_id: drawingId, svg: stored });
      const drawing = { entry, object: this.#objectOf(entry, svg) };
      const { svg: _svg, ...moved } = drawing.object;
      const logged = isOtherPicture ? { ...moved, svg: stored } : moved;
      await this.#context.commit({ action: 'drawing.updated', event: logged, was: before.entry, undoable: true }, () => {
        this.#put(drawing);
        return isOtherPicture ? drawing.object : moved;
      });
      return drawing.object;
    });
  }

  /** A drawing at another place; its lock is held. Undefined when nothing changes. @throws `drawing_not_found` */
  preparePlacement({ drawing_id, ...place }: DrawingPlacement): Commit | undefined {
    const { entry: was, object: before } = this.#get(drawing_id);
    const entry = toDrawingEntry({ ...was, ...place });
    if (isDeepStrictEqual(entry, was)) return undefined;
    const object = this.#objectOf(entry, before.svg);
    const { svg: _svg, ...event } = object;
    const apply = () => {
      this.#put({ entry, object });
      return event;
    };
    return { change: { action: 'drawing.updated', event, was, undoable: true }, apply };
  }

  async delete(drawingId: string): Promise<void> {
    this.#get(drawingId);
    await this.locks.run(drawingId, async () => {
      const { entry, object } = this.#get(drawingId);
      if (entry.locked) throw fault('drawing_locked', { drawing_id: drawingId });
      await this.#context.commit(
        { action: 'drawing.deleted', event: { ...object, svg: entry.svg }, was: entry, undoable: true },
        () => {
          this.#drawings.delete(drawingId);
          this.#list = undefined;
          return object;
        },
      );
    });
  }

  #get(drawingId: string): OpenDrawing {
    const drawing = this.#drawings.get(drawingId);
    if (!drawing) throw fault('drawing_not_found', { drawing_id: drawingId });
    return drawing;
  }

  #put(drawing: OpenDrawing): void {
    this.#drawings.set(drawing.entry.drawing_id, drawing);
    this.#list = undefined;
  }

  async #readFile(stored: string): Promise<string> {
    const svg = await readPicture(this.#context.folder, stored, mostPictureLength - this.#pictureLength);
    this.#pictureLength += svg.length;
    return svg;
  }

  async #store(svg: string): Promise<string> {
    try {
      return await storePicture(this.#context.folder, svg);
    } catch (error) {
      throw storageFailed(error);
    }
  }

  #objectOf(entry: DrawingEntry, svg: string): Readonly<Drawing> {
    return assemble<Drawing>({ ...entry, project_id: this.#context.projectId, svg });
  }
}
