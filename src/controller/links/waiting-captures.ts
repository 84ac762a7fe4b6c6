/** The captures of an open project that wait until a node of their link is started. */
import type { LinkCaptureStart } from '../../schema/capture.ts';
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

  find(linkId: string): KeptCapture | undefined {
    return this.all().find(({ link_id }) => link_id === linkId);
  }

  /** @throws `storage_failed`; it waits on then */
  async forget(linkId: string): Promise<void> {
    if (this.find(linkId)) await this.#store.write(this.all().filter(({ link_id }) => link_id !== linkId));
  }

  /** The project is closed: those that go on now wait for its next opening, with those that wait still. @throws `storage_failed` */
  async keep(going: readonly KeptCapture[], isThere: (linkId: string) => boolean): Promise<void> {
    const kept = new Map([...this.all(), ...going].map((capture) => [capture.link_id, capture]));
    this.#isClosing = true;
    await this.#store.write([...kept.values()].filter(({ link_id }) => isThere(link_id)));
  }
}

export function isOver({ ends_at }: KeptCapture): boolean {
  return typeof ends_at === 'string' && Date.parse(ends_at) <= Date.now();
}

/** What begins it again, behind what its file holds, with the rest of its time. */
export function startOf({ ends_at, max_bytes, link_id: _link, ...capture }: KeptCapture): LinkCaptureStart {
  const seconds = ends_at === null ? undefined : Math.ceil((Date.parse(ends_at) - Date.now()) / 1000);
  return {
    ...capture,
    append: true,
    ...(max_bytes !== null && { max_bytes }),
    ...(seconds !== undefined && { max_seconds: seconds }),
  };
}
