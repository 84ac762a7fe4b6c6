/**
 * Reads `divergences.tsv`: statuses in which this server intends to differ from GNS3 3.0.6. `divergences-3.1.tsv` has the calls that GNS3
 * 3.1.0a2 answers otherwise than 3.0.6, and our status; the reason is empty where ours is that of 3.1.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Divergence3 {
  readonly section: string;
  readonly name: string;
  readonly call: string;
  readonly gns3: number;
  readonly ours: number;
  readonly reason: string;
}

export async function readDivergences3(name: 'divergences.tsv' | 'divergences-3.1.tsv'): Promise<Divergence3[]> {
  const text = await readFile(join(import.meta.dirname, name), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => {
      const [section = '', name = '', call = '', gns3, ours, reason = ''] = line.split('\t');
      return { section, name, call, gns3: Number(gns3), ours: Number(ours), reason };
    });
}
