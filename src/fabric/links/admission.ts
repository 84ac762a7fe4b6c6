/** Keeps from a port the frames that it must not get. It acts behind all filters of the link, so that none can make such a frame. */
import { translateBpf } from '../filters/bpf.ts';
import type { NamedFilter } from '../filters/filter.ts';
import type { PortSpec } from '../protocol.ts';

/** @throws filter_invalid */
export function admission(sink: PortSpec): NamedFilter[] {
  if (sink.type !== 'stream' || !sink.admits) return [];
  const matches = translateBpf(sink.admits);
  return [{ type: 'not_admitted', filter: { pass: (buffer, start, end) => matches(buffer, start, end) !== 0 } }];
}
