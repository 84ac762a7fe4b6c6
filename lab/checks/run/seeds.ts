/** Seeds of links out of the seed of a test: the same test makes the same choices at the same links. */
import { createHash, randomInt } from 'node:crypto';
import type { Link } from '../../../src/schema/link.ts';
import type { LabSite } from './lab-site.ts';

/** Seeds of filters are 1 to this. */
const largest = 2_147_483_647;

export function chooseSeed(): number {
  return randomInt(1, largest);
}

export function linkSeed(seed: number, name: string): number {
  const digest = createHash('sha256').update(`${seed} ${name}`).digest();
  return 1 + (digest.readUInt32BE(0) % (largest - 1));
}

/** Gives a seed to the filters that have none. */
export async function seedLinks(site: LabSite, seedOf: (link: Link) => number): Promise<void> {
  for (const link of site.links) {
    const { filters } = link;
    if (Object.keys(filters).length === 0 || filters.seed !== undefined) continue;
    await site.request('PUT', `/links/${link.link_id}`, { filters: { ...filters, seed: [seedOf(link)] } });
  }
}
