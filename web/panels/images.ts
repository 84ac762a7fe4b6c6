/** The image files that a compute has for a kind of node. */
import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { App } from '../state/app.ts';

export interface ImageFile {
  readonly filename: string;
  /** Bytes. */
  readonly filesize: number;
  readonly md5sum?: string;
}

export interface Images {
  readonly files: Signal<readonly ImageFile[]>;
  readonly names: { readonly value: readonly string[] };
  readonly read: () => Promise<void>;
}

export function useImages({ api }: App, nodeType: string): Images {
  const files = useSignal<readonly ImageFile[]>([]);
  const read = async () => {
    // A kind without images has no such route.
    files.value = await api.get<ImageFile[]>(`/v2/computes/local/${nodeType}/images`).catch(() => []);
  };
  useEffect(() => void read(), [nodeType]);
  const names = {
    get value() {
      return files.value.map(({ filename }) => filename);
    },
  };
  return { files, names, read };
}
