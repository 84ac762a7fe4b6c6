/** A disk whose boot sector counts in the sector after it, about 18 times a second, for as long as the machine runs. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const diskBytes = 8 << 20;
const sectorBytes = 512;
/** Exit code: clusters that nothing refers to, which SIGKILL or a power cut may leave. The disk is whole. @see qemu-img(1) */
const leaked = 3;

/** Interrupts: INT 13h of the BIOS, functions 2 (read) and 3 (write), one sector, cylinder 0, head 0, sector 2, buffer 0:8000h. */
const transfer = (fn: number) => [0xb8, 1, fn, 0xb9, 2, 0, 0xb6, 0, 0xbb, 0x00, 0x80, 0x52, 0xcd, 0x13, 0x5a];
/** Segments are 0, interrupts are on. */
const begin = [0x31, 0xc0, 0x8e, 0xd8, 0x8e, 0xc0, 0xfb];
/** `inc dword [8000h]`, write, `sti`, `hlt` until the timer ticks. */
const count = [0x66, 0xff, 0x06, 0x00, 0x80, ...transfer(3), 0xfb, 0xf4];

export function writerDisk(): Buffer {
  const disk = Buffer.alloc(diskBytes);
  Buffer.from([...begin, ...transfer(2), ...count, 0xeb, 256 - count.length - 2]).copy(disk);
  disk.writeUInt16LE(0xaa55, sectorBytes - 2);
  return disk;
}

/**
 * The count on a qcow2 disk whose machine has ended. `image`: below it; the path that the disk names may be one of a container.
 * @throws for a disk that is damaged or in use
 */
export async function countOn(disk: string, scratch: string, image: string): Promise<number> {
  const file = (filename: string) => ({ file: { driver: 'file', filename } });
  const source = `json:${JSON.stringify({ driver: 'qcow2', ...file(disk), backing: { driver: 'raw', ...file(image) } })}`;
  await run('qemu-img', ['check', '-q', source], { timeout: 20_000 }).catch((error: { code?: number; stderr?: string }) => {
    if (error.code !== leaked) throw new Error(`${disk}: exit code ${error.code}: ${error.stderr}`, { cause: error });
  });
  const from = ['-O', 'raw', `bs=${sectorBytes}`, 'count=2', 'skip=1', `if=${source}`, `of=${scratch}`];
  await run('qemu-img', ['dd', ...from], { timeout: 20_000 });
  return (await readFile(scratch)).readUInt32LE();
}
