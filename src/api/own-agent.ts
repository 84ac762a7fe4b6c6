/**
 * Patchbay servers recognize each other by the `User-Agent` header. GNS3 validates its computes' answers against closed schemas, so
 * answers have Patchbay's own keys and events only for requesters with this header.
 */
const product = 'Patchbay';

/** Header of a controller's requests to a slice: the epoch of the slice's lease by which they were decided. A digit string. */
export const epochHeader = 'x-patchbay-epoch';

/** Returns the header's value for a server that speaks `apiVersion` of the GNS3 API. */
export function ownAgent(apiVersion: string): string {
  return `${product}/${apiVersion}`;
}

export function isOwnAgent(userAgent: string | undefined): boolean {
  return userAgent?.startsWith(`${product}/`) ?? false;
}
