/** Images of the engine: which there are, and bringing one that is not there. */
import { fault } from '../../api/faults.ts';
import type { Engine, ImageFacts } from './engine.ts';

interface Listed {
  readonly RepoTags: readonly string[] | null;
}

/** Names with tags, in order. */
export async function listImages(engine: Engine): Promise<{ image: string }[]> {
  await engine.check();
  const images = await engine.get<Listed[]>('/images/json');
  const names = images.flatMap(({ RepoTags }) => RepoTags ?? []).filter((name) => name !== '<none>:<none>');
  return names.sort().map((image) => ({ image }));
}

/** What the image says of itself; brought first when it is not there, which may take minutes: `inform` is told how far it is. */
export async function requireImage(engine: Engine, image: string, inform: (message: string) => void): Promise<ImageFacts> {
  await engine.check();
  const known = await engine.find<ImageFacts>(`/images/${encodeURIComponent(image)}/json`);
  if (known) return known;
  await pull(engine, image, inform);
  return engine.get<ImageFacts>(`/images/${encodeURIComponent(image)}/json`);
}

async function pull(engine: Engine, image: string, inform: (message: string) => void): Promise<void> {
  const progress = new Progress(image, inform);
  let failure: string | undefined;
  inform(`Pulling image ${image}`);
  await engine.follow(`/images/create?fromImage=${encodeURIComponent(image)}`, (line) => {
    if (typeof line.error === 'string') failure = line.error;
    else progress.heard(line);
  });
  if (failure !== undefined) throw fault('docker_failed', { reason: `The image ${image} could not be pulled: ${failure}` });
  inform(`Image ${image} is here`);
}

/** Sums up the progress of an image's layers, and says it at most once a second. */
export class Progress {
  readonly #image: string;
  readonly #inform: (message: string) => void;
  readonly #layers = new Map<string, { current: number; total: number }>();
  #saidAt = 0;

  constructor(image: string, inform: (message: string) => void) {
    this.#image = image;
    this.#inform = inform;
  }

  heard({ id, progressDetail }: Readonly<Record<string, unknown>>, nowMs = performance.now()): void {
    const { current, total } = (progressDetail ?? {}) as { current?: number; total?: number };
    if (typeof id !== 'string' || current === undefined || !total) return;
    this.#layers.set(id, { current, total });
    if (nowMs - this.#saidAt < 1000) return;
    this.#saidAt = nowMs;
    const sum = (key: 'current' | 'total') => [...this.#layers.values()].reduce((all, layer) => all + layer[key], 0);
    const mebi = (bytes: number) => (bytes / 2 ** 20).toFixed(1);
    this.#inform(`Pulling image ${this.#image}: ${mebi(sum('current'))} of ${mebi(sum('total'))} MiB`);
  }
}
