/**
 * Servers of ours recognize each other by the `User-Agent` header. GNS3 checks what its computes answer against closed schemas, so an
 * answer has keys and events of our own only for a requester with this header.
 */
const product = 'Patchbay';

/** The header's value for a server that speaks this version of the GNS3 API. */
export function ownAgent(apiVersion: string): string {
  return `${product}/${apiVersion}`;
}

export function isOwnAgent(userAgent: string | undefined): boolean {
  return userAgent?.startsWith(`${product}/`) ?? false;
}
