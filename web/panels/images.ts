/** The image files that a compute has for a kind of node. */
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { App } from '../state/app.ts';

export interface ImageFile {
  readonly filename: string;
  /** Bytes; an engine that keeps its images itself does not tell. */
  readonly filesize?: number;
  readonly md5sum?: string;
}

export interface Images {
  readonly files: Signal<readonly ImageFile[]>;
  /** Why there is no list: a kind without images, a compute that is away, an engine that does not run. */
  readonly failure: Signal<string>;
  readonly names: { readonly value: readonly string[] };
  readonly read: () => Promise<void>;
}

/** As Docker's engine lists its own. */
interface EngineImage {
  readonly image: string;
}

const fileOf = (listed: ImageFile | EngineImage): ImageFile => ('image' in listed ? { filename: listed.image } : listed);

export const imagesPath = (computeId: string, nodeType: string) =>
  `/v2/computes/${encodeURIComponent(computeId)}/${nodeType}/images`;

export function useImages({ api }: App, nodeType: string, computeId = 'local'): Images {
  const files = useSignal<readonly ImageFile[]>([]);
  const failure = useSignal('');
  const asked = useRef('');
  const path = imagesPath(computeId, nodeType);
  const read = async () => {
    asked.current = path;
    let said = '';
    const listed = await api.get<(ImageFile | EngineImage)[]>(path).catch((error: Error) => {
      said = error.message;
      return [];
    });
    // Another list may have been asked for meanwhile.
    if (asked.current !== path) return;
    files.value = listed.map(fileOf);
    failure.value = said;
  };
  useEffect(() => void read(), [path]);
  const names = {
    get value() {
      return files.value.map(({ filename }) => filename);
    },
  };
  return { files, failure, names, read };
}
