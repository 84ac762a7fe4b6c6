/** The BPF programs of a link, as functions. */
import type { LinkDirection } from '../../schema/filter.ts';
import { type BpfProgram, translateBpf } from '../filters/bpf.ts';
import type { BpfType, LinkSpec } from '../protocol.ts';

/** Of each direction, by filter; none where there is no such filter. */
export type Programs = Readonly<Record<LinkDirection, Readonly<Record<BpfType, readonly BpfProgram[]>>>>;

/** @throws filter_invalid */
export function translatePrograms({ filters, ...spec }: LinkSpec): Programs {
  const translate = (type: BpfType, direction: LinkDirection): BpfProgram[] => {
    const key = filters[`${type}_${direction}`] ? (`${type}_${direction}` as const) : type;
    return filters[key] ? (spec[key] ?? []).map(translateBpf) : [];
  };
  const programsOf = (direction: LinkDirection) => ({ bpf: translate('bpf', direction), match: translate('match', direction) });
  return { ab: programsOf('ab'), ba: programsOf('ba') };
}

/** Undefined when all frames match. */
export function matchOf({ match }: Programs[LinkDirection]): BpfProgram | undefined {
  const [only, ...more] = match;
  if (more.length === 0) return only;
  return (buffer, start, end) => (match.some((program) => program(buffer, start, end) !== 0) ? 1 : 0);
}
