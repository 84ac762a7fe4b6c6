/** The BPF programs of a link, as functions, by the text of the filter that has them. */
import { fault } from '../../api/faults.ts';
import { type Filters, type FilterValues, isActing, knownFilters, type LinkDirection } from '../../schema/filter.ts';
import { isExpressionFilter } from '../../schema/schedule-rules.ts';
import { type BpfProgram, translateBpf } from '../filters/bpf.ts';
import { type BpfType, bpfKeys, type LinkSpec } from '../protocol.ts';

export type Programs = ReadonlyMap<string, readonly BpfProgram[]>;

const none: readonly BpfProgram[] = [];
export const noPrograms: Programs = new Map();

/** @throws filter_invalid */
export function translatePrograms({ filters, schedule, expressions = [], ...spec }: LinkSpec): Programs {
  const own = bpfKeys.flatMap((key) => (filters[key] ? [{ text: textOf(filters[key]), programs: spec[key] ?? [] }] : []));
  const programs = new Map([...own, ...expressions].map(({ text, programs }) => [text, programs.map(translateBpf)]));
  for (const { filters: scheduled = {} } of schedule?.steps ?? []) {
    for (const [name, values] of Object.entries(scheduled)) {
      if (!isExpressionFilter(name) || !isActing(name, values) || programs.has(textOf(values))) continue;
      throw fault('filter_invalid', { name, reason: 'its expressions were not compiled', known: knownFilters });
    }
  }
  return programs.size === 0 ? noPrograms : programs;
}

/** Programs of a filter in each direction; the same list while its text is the same. */
export function programsIn(
  programs: Programs,
  filters: Filters,
  type: BpfType,
): Readonly<Record<LinkDirection, readonly BpfProgram[]>> {
  const inDirection = (direction: LinkDirection) => {
    const values = filters[`${type}_${direction}`] ?? filters[type];
    return (values && programs.get(textOf(values))) ?? none;
  };
  return { ab: inDirection('ab'), ba: inDirection('ba') };
}

/** Whether a frame matches one of the programs; undefined when there are none, and all frames match. */
export function matchOf(programs: readonly BpfProgram[]): BpfProgram | undefined {
  const [only, ...more] = programs;
  if (more.length === 0) return only;
  return (buffer, start, end) => (programs.some((program) => program(buffer, start, end) !== 0) ? 1 : 0);
}

function textOf(values: FilterValues): string {
  return String(values[0] ?? '');
}
