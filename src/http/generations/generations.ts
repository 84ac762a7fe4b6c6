/** Chooses the generation of a request by its path. */
import type { Generation } from './generation.ts';
import { generation2 } from './v2.ts';
import { generation3 } from './v3.ts';

/** Returns the conventions of a request target; paths outside `/v3` have those of `/v2`. */
export function generationOf(url: string): Generation {
  return /^\/v3(?:[/?#]|$)/.test(url) ? generation3 : generation2;
}
