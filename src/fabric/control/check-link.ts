/** The fabric outlives the server that speaks to it, perhaps one of another version: it does not trust a specification's shape. */
import { isAbsolute } from 'node:path';
import { fault } from '../../api/faults.ts';
import { normaliseFilters } from '../../schema/filter.ts';
import { bpfKeys, type LinkSpec } from '../protocol.ts';
import { checkSwitchPort } from './check-switch-port.ts';

/** `sun_path` of Linux's `sockaddr_un`, less the final NUL. */
const maxPathBytes = 107;

/** @throws invalid_request saying what is wrong with `given`. */
export function checkLink(given: unknown): LinkSpec {
  const spec = given as Partial<LinkSpec> | null;
  if (typeof spec !== 'object' || spec === null) throw invalid('a link is an object');
  if (typeof spec.id !== 'string' || spec.id === '') throw invalid('a link has an id');
  checkPort(spec.a, 'a');
  checkPort(spec.b, 'b');
  if (typeof spec.suspend !== 'boolean') throw invalid('suspend is true or false');
  for (const key of bpfKeys) {
    if (spec[key] !== undefined && !Array.isArray(spec[key])) throw invalid(`${key} is a list of programs`);
  }
  if (typeof spec.filters !== 'object' || spec.filters === null) throw invalid('filters is an object');
  const filters = normaliseFilters(spec.filters);
  if (!filters.ok) throw invalid(`filter ${filters.name}: ${filters.reason}`);
  if (spec.captures !== undefined) checkCaptures(spec.captures);
  return spec as LinkSpec;
}

function checkCaptures(given: unknown): void {
  if (!Array.isArray(given)) throw invalid('captures is a list');
  for (const capture of given as (Record<string, unknown> | null)[]) {
    const { path, linkType, side, maxBytes, until } = capture ?? {};
    if (typeof path !== 'string' || !isAbsolute(path) || path.includes('\0')) throw invalid('the path of a capture is absolute');
    if (!Number.isInteger(linkType)) throw invalid('the link type of a capture is a number');
    if (side !== undefined && side !== 'before' && side !== 'after') throw invalid('the side of a capture is before or after');
    if (maxBytes !== undefined && !Number.isFinite(maxBytes)) throw invalid('maxBytes of a capture is a number');
    if (until !== undefined && !Number.isFinite(until)) throw invalid('until of a capture is a number');
  }
}

function checkPort(given: unknown, end: string): void {
  const port = given as Record<string, unknown> | null;
  if (typeof port !== 'object' || port === null) throw invalid(`port ${end} is missing`);
  if (port.type === 'stream') {
    if (
      typeof port.path !== 'string' ||
      port.path === '' ||
      Buffer.byteLength(port.path) > maxPathBytes ||
      port.path.includes('\0')
    ) {
      throw invalid(`the path of port ${end} has 1 to ${maxPathBytes} bytes`);
    }
    if (port.admits !== undefined && !Array.isArray(port.admits)) throw invalid(`admits of port ${end} is a program`);
    if (port.directsLeases !== undefined && typeof port.directsLeases !== 'boolean')
      throw invalid(`directsLeases of port ${end} is true or false`);
    return;
  }
  if (port.type === 'switch') {
    checkSwitchPort(port, end);
    return;
  }
  if (port.type !== 'udp') throw invalid(`port ${end} is neither stream, udp nor switch`);
  for (const key of ['lport', 'rport']) {
    const number = port[key];
    if (!Number.isInteger(number) || Number(number) < 1 || Number(number) > 65535)
      throw invalid(`${key} of port ${end} is 1 to 65535`);
  }
  if (typeof port.rhost !== 'string' || port.rhost === '') throw invalid(`rhost of port ${end} is missing`);
  if (port.mtu !== undefined && !Number.isInteger(port.mtu)) throw invalid(`mtu of port ${end} is a number of bytes`);
  if (port.bind !== undefined && typeof port.bind !== 'string') throw invalid(`bind of port ${end} is an address`);
  if (port.stream !== undefined) checkStream(port.stream, end);
}

function checkStream(given: unknown, end: string): void {
  const { role, secret, encryption } = (given ?? {}) as Record<string, unknown>;
  if (role !== 'accept' && role !== 'connect') throw invalid(`the role of the stream of port ${end} is accept or connect`);
  if (typeof secret !== 'string' || secret === '') throw invalid(`the stream of port ${end} has a secret`);
  if (encryption !== undefined && encryption !== 'preferred' && encryption !== 'required')
    throw invalid(`the encryption of the stream of port ${end} is preferred or required`);
}

function invalid(reason: string): Error {
  return fault('invalid_request', { reason });
}
