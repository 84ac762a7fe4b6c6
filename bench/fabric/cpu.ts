import { readFile } from 'node:fs/promises';

/** Linux counts in hundredths of a second (USER_HZ), independent of its timer. */
const tickMicros = 10_000;

/** CPU time of a process so far: all threads, user and system. */
export async function cpuMicros(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8');
  // Fields 14 and 15; the name before them may contain blanks.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tickMicros;
}
