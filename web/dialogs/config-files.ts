/** The text files of a node that configure it, with the version before the last change. */
import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Node } from '../../src/schema/node.ts';
import { ApiError } from '../api.ts';
import type { App } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';
import { texts } from '../texts.ts';
import { configFiles, startupFile } from './config-paths.ts';

/** Larger files are only uploaded and downloaded. Bytes. */
const largestText = 512 * 1024;

export interface ConfigContent {
  /** Undefined: the file does not exist. */
  readonly stored: string | undefined;
  /** Text before the last change; undefined while it is not known. */
  readonly previous: string | undefined;
  /** The file is not text, or too long to edit. */
  readonly isBinary: boolean;
}

export interface ConfigFile {
  readonly path: Signal<string>;
  /** Undefined while it is loading, and for a folder. */
  readonly content: Signal<ConfigContent | undefined>;
  readonly addressOf: (path: string) => string;
  /** `onStored` is called when the server has it, before it is read again. */
  readonly write: (body: Blob, onStored: () => void) => Promise<unknown>;
}

export function useConfigFile(app: App, project: ProjectState, node: Node): ConfigFile {
  const { api, toasts } = app;
  const path = useSignal(configFiles(app, node)[0] ?? '');
  const content = useSignal<ConfigContent | undefined>(undefined);
  const addressOf = (file: string) =>
    `${project.path}/nodes/${node.node_id}/files/${file.split('/').map(encodeURIComponent).join('/')}`;
  // Previous versions are shown of a start-up configuration only: a container may read every file of a folder.
  const previousOf = (file: string) => (file === startupFile(app, node) ? `${file}.previous` : undefined);
  const read = async (file: string | undefined): Promise<string | undefined> => {
    if (file === undefined || file === '' || file.endsWith('/')) return undefined;
    const stream = await api.stream(addressOf(file), new AbortController().signal).catch((error: Error) => {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    });
    return stream && (await textOf(stream));
  };
  const load = async (before?: string) => {
    const file = path.value;
    content.value = undefined;
    if (file === '' || file.endsWith('/')) return;
    const [stored, previous] = await Promise.all([read(file), read(previousOf(file))]);
    if (path.peek() !== file) return;
    const isBinary = stored === noText;
    content.value = { stored, previous: (previous === noText ? undefined : previous) ?? before, isBinary };
  };
  useEffect(() => void toasts.attempt(() => load()), [path.value]);
  const write = (body: Blob, onStored: () => void) =>
    toasts.attempt(async () => {
      // The user may choose another file meanwhile.
      const file = path.peek();
      const { stored, isBinary } = content.peek() ?? { stored: undefined, isBinary: false };
      const kept = previousOf(file);
      if (kept !== undefined && stored !== undefined && !isBinary) await api.upload(addressOf(kept), { body: new Blob([stored]) });
      await api.upload(addressOf(file), { body });
      onStored();
      toasts.show('done', texts.config.saved(file));
      if (path.peek() === file) await load(isBinary ? undefined : stored);
    });
  return { path, content, addressOf, write };
}

/** Stands for a file that cannot be edited. */
export const noText = '\0';

/** `noText` unless it is short UTF-8: saving any other text would change it. Of a long file no more than its start is read. */
export async function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.byteLength;
    if (bytes > largestText) return noText;
    chunks.push(new Uint8Array(chunk));
  }
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    const text = decoder.decode(await new Blob(chunks).arrayBuffer());
    return text.includes('\0') ? noText : text;
  } catch {
    return noText;
  }
}
