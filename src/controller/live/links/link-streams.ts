/**
 * Derives the stream settings that both ends of a link receive when both computes are Patchbay's. The secret of a link follows
 * from a key that lives as long as the project is open, and is never stored. When the project is opened again both ends receive a
 * new secret, which does not affect an established connection.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { fault } from '../../../api/faults.ts';
import type { NioStream } from '../../../schema/nio.ts';
import type { RegisteredCompute } from '../../computes/compute.ts';
import type { LinkRelay } from '../../relay/link-relay.ts';
import type { Two } from './link.ts';
import { addressTowards } from './link-addresses.ts';

export class LinkStreams {
  readonly #key = randomBytes(32);

  /**
   * Returns the stream settings of each end; undefined when the link uses datagrams. @throws `link_failed` when datagrams would be
   * unencrypted and must not be
   */
  of(linkId: string, [one, other]: Two<RegisteredCompute>): Two<NioStream> | undefined {
    if (one === other) return undefined;
    const encryption = encryptionOf([one, other]);
    if (!one.hasLinkStreams || !other.hasLinkStreams) return undefined;
    // A slice that lost its lease has secrets of an epoch that is over.
    const epochs = [one, other].map(({ id, epoch }) => `${id} ${epoch ?? 0}`).sort();
    const secret = createHmac('sha256', this.#key)
      .update([linkId, ...epochs].join('\n'))
      .digest('hex');
    const probes = one.hasLinkFeature('paths') && other.hasLinkFeature('paths');
    const common = { secret, ...(encryption && { encryption }), ...(probes && { probes }) };
    const accept: NioStream = { role: 'accept', ...common };
    const connect: NioStream = { role: 'connect', ...common };
    // TCP connections from this host reach a remote compute.
    return other.isLocal ? [accept, connect] : [connect, accept];
  }

  /** Adds a relay where both computes are remote and may not reach each other. */
  async relayed(linkId: string, computes: Two<RegisteredCompute>, relay: LinkRelay): Promise<Two<NioStream> | undefined> {
    const streams = this.of(linkId, computes);
    if (!streams?.[0].probes || computes.some(({ isLocal }) => isLocal)) return streams;
    const ticket = createHmac('sha256', streams[0].secret).update('relay').digest('hex');
    const port = await relay.admit(linkId, ticket);
    if (port === undefined) return streams;
    const hosts = await Promise.all(computes.map((compute) => relay.host || addressTowards(compute)));
    const [one, other] = hosts.map((host) => ({ relay: { host, port, ticket } }));
    return [
      { ...streams[0], ...one },
      { ...streams[1], ...other },
    ];
  }
}

function encryptionOf(pair: Two<RegisteredCompute>): NioStream['encryption'] {
  const missing = pair.find(({ hasLinkStreams, linkEncryption }) => !hasLinkStreams || linkEncryption === undefined);
  const strict = pair.find(({ linkEncryption }) => linkEncryption === 'required');
  // Datagrams have no secret: those of a slice that lost its lease must not come in.
  const hasLease = pair.some(({ epoch }) => epoch !== null);
  if (!missing) return strict || hasLease ? 'required' : 'preferred';
  if (!strict) return undefined;
  const reason = `${strict.record.name} requires encryption (link_encryption in [Server]), which ${missing.record.name} does not have`;
  throw fault('link_failed', { reason });
}
