/** Makes an account store usable again that cannot be read as a whole: keeps what can be read, and a copy of the file. */
import { join } from 'node:path';
import { writeFileAtomic } from '../lib/atomic-file.ts';
import { encode, readRecords, salvageRecords } from '../lib/journal-lines.ts';
import { readRegularFile } from '../lib/regular-file.ts';
import { isDamage, keepCopy, setAside } from '../lib/set-aside.ts';
import { isRecord } from './records.ts';

interface StoreRepair {
  /** Path of the damaged file. */
  readonly aside: string;
  /** Number of records in the new file. */
  readonly kept: number;
  /** Number of lines and records that cannot be used. */
  readonly lost: number;
}

/** Line of the journal: a record, or the deletion of one. */
interface StoredChange {
  readonly k: string;
  readonly v?: unknown;
}

/** Repairs the store in `<dataDirectory>/people`. Returns undefined when nothing is wrong with it. */
export async function repairStore(dataDirectory: string): Promise<StoreRepair | undefined> {
  const folder = join(dataDirectory, 'people');
  const path = join(folder, 'people.log');
  let content: Buffer;
  try {
    content = await readRegularFile(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (!isDamage(error)) throw error;
    return { aside: await setAside(code === 'ENOTDIR' ? folder : path), kept: 0, lost: 0 };
  }
  const { isTorn } = await readRecords(content);
  const { records, lost } = await salvageRecords<StoredChange | null>(content);
  const kept = new Map<string, unknown>();
  for (const change of records) {
    if (typeof change?.k !== 'string') continue;
    if (change.v === undefined) kept.delete(change.k);
    else kept.set(change.k, change.v);
  }
  const wrong = [...kept].filter(([key, record]) => !isRecord(key.slice(0, key.indexOf('/')), record));
  for (const [key] of wrong) kept.delete(key);
  if (isTorn && wrong.length === 0) return undefined;
  const aside = await keepCopy(path);
  await writeFileAtomic(path, Array.from(kept, ([k, v]) => encode({ k, v })).join(''), 0o600);
  return { aside, kept: kept.size, lost: lost + wrong.length };
}
