/** The fabric outlives the server that speaks to it, perhaps one of another version: it does not trust a specification's shape. */
import { isAbsolute } from 'node:path';
import { fault } from '../api/faults.ts';
import { type FilterType, filterTypes } from '../schema/filter.ts';
import type { LinkSpec } from './protocol.ts';

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
  if (spec.seed !== undefined && !Number.isFinite(spec.seed)) throw invalid('seed is a number');
  if (spec.bpf !== undefined && !Array.isArray(spec.bpf)) throw invalid('bpf is a list of programs');
  if (typeof spec.filters !== 'object' || spec.filters === null) throw invalid('filters is an object');
  for (const [type, values] of Object.entries(spec.filters)) {
    if (!filterTypes.includes(type as FilterType)) throw invalid(`there is no filter ${type}`);
    if (!Array.isArray(values)) throw invalid(`the values of ${type} are a list`);
    if (type !== 'bpf' && !values.every((value) => Number.isInteger(value)))
      throw invalid(`the values of ${type} are whole numbers`);
  }
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
    return;
  }
  if (port.type !== 'udp') throw invalid(`port ${end} is neither stream nor udp`);
  for (const key of ['lport', 'rport']) {
    const number = port[key];
    if (!Number.isInteger(number) || Number(number) < 1 || Number(number) > 65535)
      throw invalid(`${key} of port ${end} is 1 to 65535`);
  }
  if (typeof port.rhost !== 'string' || port.rhost === '') throw invalid(`rhost of port ${end} is missing`);
  if (port.bind !== undefined && typeof port.bind !== 'string') throw invalid(`bind of port ${end} is an address`);
}

function invalid(reason: string): Error {
  return fault('invalid_request', { reason });
}
