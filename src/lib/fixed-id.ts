/** Ids of things that have none of their own. */
import { createHash } from 'node:crypto';

/** Returns a UUID of version 4 that is always the same for a text: clients know built-in things by their ids. */
export function fixedId(text: string): string {
  const digits = createHash('sha256').update(`patchbay:${text}`).digest('hex');
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-8${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
}
