/** Derives the seeds of links from the seed of a test: the same test makes the same random choices at the same links. */
import { createHash, randomInt } from 'node:crypto';
import type { Link } from '../../../src/schema/link.ts';
import type { LabSite } from './lab-site.ts';

/** Largest seed of a filter; the smallest is 1. */
const largest = 2_147_483_647;

export function chooseSeed(): number {
  return randomInt(1, largest);
}

export function linkSeed(seed: number, name: string): number {
  const digest = createHash('sha256').update(`${seed} ${name}`).digest();
  return 1 + (digest.readUInt32BE(0) % (largest - 1));
}

/** Sets a seed for the filters that have none. */
export async function seedLinks(site: LabSite, seedOf: (link: Link) => number): Promise<void> {
  for (const link of site.links) {
    const { filters } = link;
    if (Object.keys(filters).length === 0 || filters.seed !== undefined) continue;
    await site.request('PUT', `/links/${link.link_id}`, { filters: { ...filters, seed: [seedOf(link)] } });
  }
}
