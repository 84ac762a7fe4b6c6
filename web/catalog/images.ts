/** The image files that a compute has for a kind of node. */
import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { App } from '../state/app.ts';
import { useReadings } from '../ui/readings.ts';

export interface ImageFile {
  readonly filename: string;
  /** Relative to the folder of uploads, or absolute elsewhere on the compute. */
  readonly path?: string;
  /** Bytes; unknown for images of a container engine. */
  readonly filesize?: number;
  /** Null while the compute is computing it. */
  readonly md5sum?: string | null;
}

export interface Images {
  readonly files: Signal<readonly ImageFile[]>;
  /** Why the list is missing: a kind without images, an unreachable compute, a stopped engine. */
  readonly failure: Signal<string>;
  readonly names: { readonly value: readonly string[] };
  readonly read: () => Promise<void>;
}

/** The format of Docker's own list. */
interface EngineImage {
  readonly image: string;
}

const fileOf = (listed: ImageFile | EngineImage): ImageFile => ('image' in listed ? { filename: listed.image } : listed);

export const imagesPath = (computeId: string, nodeType: string) =>
  `/v2/computes/${encodeURIComponent(computeId)}/${nodeType}/images`;

export function useImages({ api }: App, nodeType: string, computeId = 'local'): Images {
  const files = useSignal<readonly ImageFile[]>([]);
  const failure = useSignal('');
  const begin = useReadings();
  const path = imagesPath(computeId, nodeType);
  const read = async () => {
    const inOrder = begin();
    let message = '';
    const listed = await api.get<(ImageFile | EngineImage)[]>(path).catch((error: Error) => {
      message = error.message;
      return [];
    });
    inOrder(() => {
      files.value = listed.map(fileOf);
      failure.value = message;
    });
  };
  useEffect(() => void read(), [path]);
  const names = {
    get value() {
      return files.value.map(({ filename }) => filename);
    },
  };
  return { files, failure, names, read };
}
