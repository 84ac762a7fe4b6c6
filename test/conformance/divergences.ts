/** Where we differ on purpose: the table of `divergences.md`, which people read and the replay obeys. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CallDifference } from './replay.ts';

export interface Divergence {
  readonly section: string;
  /** Name of the call; `*` stands for anything. */
  readonly call: string;
  /** Place of the difference; `*` stands for anything. */
  readonly where: string;
  readonly reason: string;
}

/** A row is `| section | call | where | reason |`. */
export async function readDivergences(): Promise<Divergence[]> {
  const text = await readFile(join(import.meta.dirname, 'divergences.md'), 'utf8');
  // The part behind this title has differences that no transcript has.
  const [recorded = ''] = text.split('\n# Differences of PCs');
  return recorded
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => {
      const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
      const [section = '', call = '', where = ''] = cells.slice(1, 4).map((cell) => cell.replace(/^`|`$/g, ''));
      return { section, call, where, reason: cells[4] ?? '' };
    });
}

export function covers(divergence: Divergence, { call, where }: CallDifference): boolean {
  return matches(divergence.call, call) && matches(divergence.where, where);
}

function matches(pattern: string, text: string): boolean {
  const source = pattern.split('*').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${source.join('.*')}$`, 's').test(text);
}
