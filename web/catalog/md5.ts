/** The MD5 sum of a local file, computed in a worker: appliances name their images by it. */
export type Md5Answer = { readonly part: number } | { readonly md5sum: string } | { readonly failure: string };

/** @throws Error when the file cannot be read, DOMException when the signal aborts it */
export function md5Of(file: File, onProgress: (part: number) => void, signal?: AbortSignal): Promise<string> {
  const worker = new Worker(new URL('./md5-worker.ts', import.meta.url), { type: 'module' });
  return new Promise<string>((resolve, reject) => {
    signal?.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')), { once: true });
    worker.onerror = ({ message }) => reject(new Error(message || `${file.name} could not be read`));
    worker.onmessage = ({ data }: MessageEvent<Md5Answer>) => {
      if ('part' in data) onProgress(data.part);
      else if ('md5sum' in data) resolve(data.md5sum);
      else reject(new Error(data.failure));
    };
    worker.postMessage(file);
  }).finally(() => worker.terminate());
}
