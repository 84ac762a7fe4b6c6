/** Images of the engine: which there are, and bringing one that is not there. */
import { fault } from '../../api/faults.ts';
import { KeyedMutex } from '../../lib/mutex.ts';
import type { DockerEngine, DockerImage } from './engine.ts';

interface DockerImageEntry {
  readonly RepoTags: readonly string[] | null;
}

/** Names with tags, in order. */
export async function listImages(engine: DockerEngine): Promise<{ image: string }[]> {
  await engine.check();
  const images = await engine.get<DockerImageEntry[]>('/images/json');
  const names = images.flatMap(({ RepoTags }) => RepoTags ?? []).filter((name) => name !== '<none>:<none>');
  return names.sort().map((image) => ({ image }));
}

/** Returns the folders that the image declares as volumes; undefined where the engine does not have it. */
export async function imageVolumes(engine: DockerEngine, image: string): Promise<string[] | undefined> {
  await engine.check();
  const found = await engine.find<DockerImage>(`/images/${encodeURIComponent(image)}/json`);
  return found && Object.keys(found.Config?.Volumes ?? {});
}

type Inform = (message: string) => void;

export class DockerImages {
  readonly #engine: DockerEngine;
  /** Nodes that lack the same image wait for one pull. */
  readonly #pulls = new KeyedMutex();

  constructor(engine: DockerEngine) {
    this.#engine = engine;
  }

  /** Returns the image's description. Pulls a missing image first, which may take minutes: `inform` gets the progress. */
  async require(image: string, inform: Inform): Promise<DockerImage> {
    await this.#engine.check();
    return (await this.#find(image)) ?? this.#pulls.run(image, async () => (await this.#find(image)) ?? this.#pull(image, inform));
  }

  #find(image: string): Promise<DockerImage | undefined> {
    return this.#engine.find<DockerImage>(`/images/${encodeURIComponent(image)}/json`);
  }

  async #pull(image: string, inform: Inform): Promise<DockerImage> {
    const progress = new PullProgress(image, inform);
    let failure: string | undefined;
    inform(`Pulling image ${image}`);
    await this.#engine.follow(`/images/create?fromImage=${encodeURIComponent(image)}`, (line) => {
      if (typeof line.error === 'string') failure = line.error;
      else progress.add(line);
    });
    const pulled = failure === undefined ? await this.#find(image) : undefined;
    if (!pulled) {
      const reason = failure ?? 'the engine does not have it afterwards';
      throw fault('docker_failed', { reason: `The image ${image} could not be pulled: ${reason}` }, { extra: { image } });
    }
    inform(`Image ${image} is here`);
    return pulled;
  }
}

/** Sums up the progress of an image's layers, and says it at most once a second. */
export class PullProgress {
  readonly #image: string;
  readonly #inform: (message: string) => void;
  readonly #layers = new Map<string, { current: number; total: number }>();
  #saidAt = 0;

  constructor(image: string, inform: (message: string) => void) {
    this.#image = image;
    this.#inform = inform;
  }

  add({ id, progressDetail }: Readonly<Record<string, unknown>>, nowMs = performance.now()): void {
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
