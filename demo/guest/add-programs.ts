/** Programs of this host in the guest, each with its libraries. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type CpioEntry, cpio } from './cpio.ts';
import { run } from './debian.ts';
import type { Guest } from './guest.ts';

/**
 * Writes the guest's archive to `initrd` with a second one behind it: the kernel unpacks both in order.
 * The guest needs twice their size more memory while it unpacks them. @throws Error when a program is not installed
 */
export async function addPrograms(guest: Guest, programs: readonly string[], initrd: string): Promise<Guest> {
  const files = new Map<string, string>();
  for (const name of programs) {
    const program = (await run('sh', ['-c', 'command -v "$1"', 'sh', name])).stdout.trim();
    if (program === '') throw new Error(`${name} is not installed`);
    files.set(`bin/${name}`, program);
    for (const [, library = ''] of (await run('ldd', [program])).stdout.matchAll(/(?:=> )?(\/\S+) \(0x/g))
      files.set(library.slice(1), library);
  }
  const folders = new Set([...files.keys()].flatMap(foldersOf));
  const entries: CpioEntry[] = [...folders].map((folder) => ({ path: folder, type: 'directory' }));
  for (const [to, from] of files) entries.push({ path: to, type: 'file', data: await readFile(from), executable: true });
  await writeFile(initrd, Buffer.concat([await readFile(guest.initrd), cpio(entries)]));
  return { kernel: guest.kernel, initrd };
}

/** `lib`, `lib/x86_64-linux-gnu`. */
function foldersOf(file: string): string[] {
  const parts = path.dirname(file).split('/');
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}
