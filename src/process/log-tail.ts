import { openRegular } from '../lib/regular-file.ts';

/** Length of a child's output that a failure quotes. */
export const tailBytes = 4096;

/** The last words of a log file, at most 4 KiB of what was written after `from` bytes; empty when the file cannot be read. */
export async function logTail(path: string, from = 0): Promise<string> {
  const opened = await openRegular(path, { noFollow: true }).catch(() => undefined);
  if (opened === undefined) return '';
  const { file, sizeBytes } = opened;
  try {
    const start = Math.max(from, sizeBytes - tailBytes, 0);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(tailBytes), 0, tailBytes, start);
    return buffer.subarray(0, bytesRead).toString('utf8').trim();
  } catch {
    return '';
  } finally {
    await file.close();
  }
}
