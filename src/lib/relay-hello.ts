/** Encodes the first message of a link's end to a relay: magic (8 bytes), role (1), ticket (32). */

/** Magic; the last character is the version. */
const magic = 'pbrelay1';
const relayTicketBytes = 32;
export const relayHelloBytes = magic.length + 1 + relayTicketBytes;
export type RelayRole = 'accept' | 'connect';

/** Encodes the message. `ticket`: hexadecimal. */
export function relayHello(role: RelayRole, ticket: string): Buffer {
  return Buffer.concat([Buffer.from(`${magic}${role.charAt(0)}`), Buffer.from(ticket, 'hex')]);
}

/** Decodes the message; undefined when it is invalid. */
export function readRelayHello(bytes: Buffer): { role: RelayRole; ticket: string } | undefined {
  if (bytes.length !== relayHelloBytes) return undefined;
  const head = bytes.toString('latin1', 0, magic.length + 1);
  const role = head === `${magic}a` ? 'accept' : head === `${magic}c` ? 'connect' : undefined;
  return role && { role, ticket: bytes.toString('hex', magic.length + 1) };
}
