/** The captures of an open project that wait until a node of their link is started. */
import type { LinkCaptureStart } from '../../../schema/capture.ts';
import type { CapturesOfProject, KeptCapture } from './kept-captures.ts';

export class WaitingCaptures {
  readonly #store: CapturesOfProject;
  /** The project is being closed: what is kept is for the next opening. */
  #isClosing = false;

  constructor(store: CapturesOfProject) {
    this.#store = store;
  }

  all(): readonly KeptCapture[] {
    return this.#isClosing ? [] : this.#store.read();
  }

  /** Those of a link. */
  of(linkId: string): readonly KeptCapture[] {
    return this.all().filter(({ link_id }) => link_id === linkId);
  }

  find(linkId: string, captureId: string | null): KeptCapture | undefined {
    return this.of(linkId).find(({ capture_id = null }) => capture_id === captureId);
  }

  /** @throws `storage_failed`; it waits on then */
  async forget(linkId: string, captureId: string | null): Promise<void> {
    const kept = this.find(linkId, captureId);
    if (kept) await this.#store.write(this.all().filter((other) => other !== kept));
  }

  /** These wait, too. @throws `storage_failed` */
  add(captures: readonly KeptCapture[]): Promise<void> {
    return this.#store.write(merged(this.all(), captures));
  }

  /** The project is closed: those that go on now wait for its next opening, with those that wait still. @throws `storage_failed` */
  async keep(going: readonly KeptCapture[], isThere: (linkId: string) => boolean): Promise<void> {
    const kept = merged(this.all(), going);
    this.#isClosing = true;
    await this.#store.write(kept.filter(({ link_id }) => isThere(link_id)));
  }
}

/** Each once; the later ones are what counts. */
function merged(...lists: readonly (readonly KeptCapture[])[]): KeptCapture[] {
  const keyOf = ({ link_id, capture_id = null }: KeptCapture) => `${link_id} ${capture_id}`;
  return [...new Map(lists.flat().map((capture) => [keyOf(capture), capture])).values()];
}

export function isOver({ ends_at }: KeptCapture): boolean {
  return typeof ends_at === 'string' && Date.parse(ends_at) <= Date.now();
}

/** What begins it again, behind what its file holds, with the rest of its time. */
export function startOf({ ends_at, max_bytes, link_id: _link, capture_id: _id, ...capture }: KeptCapture): LinkCaptureStart {
  const seconds = ends_at === null ? undefined : Math.ceil((Date.parse(ends_at) - Date.now()) / 1000);
  return {
    ...capture,
    append: true,
    ...(max_bytes !== null && { max_bytes }),
    ...(seconds !== undefined && { max_seconds: seconds }),
  };
}
