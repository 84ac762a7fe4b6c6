/** Rows of routing and neighbour tables, and the expectations of steps for them. */
import type { CheckPath } from './check-error.ts';
import { type Judge, outside, rangeOf } from './judges.ts';
import type { StepExpect } from './step-schema.ts';

/** Values by the names of columns; a column may have none or several. */
export type TableRow = Readonly<Record<string, readonly string[]>>;

export interface TableResult {
  readonly rows: readonly TableRow[];
}

/** Compiles the expectations for a prefix: `default`, `10.0.0.0/8`, or a single address. */
export function judgeRoute(expect: StepExpect, to: string, path: CheckPath): Judge<TableResult> {
  const { present = true, via, interface: wantedInterface, protocol } = expect;
  const metric = rangeOf(expect, path, 'metric', 'count');
  return ({ rows }) => {
    const routes = rows.filter(({ prefix = [] }) => prefix.some((one) => prefixText(one) === prefixText(to)));
    if (!present) return routes.length === 0 ? [] : [`there is a route to ${to}: ${routes.map(rowText).join('; ')}`];
    if (routes.length === 0) return [`there is no route to ${to}`];
    const values = (column: string) => [...new Set(routes.flatMap((row) => row[column] ?? []))];
    const hops = values('via');
    const isVia = via === undefined || (hops.length === via.length && via.every((hop) => hops.includes(hop)));
    return [
      ...(isVia ? [] : [`the next hops are ${hops.join(', ') || 'none'}, expected ${via.join(', ') || 'none'}`]),
      ...lacks('interface', values('interface'), wantedInterface),
      ...lacks('protocol', values('protocol'), protocol),
      ...outside('the metric', metric, numberOf(values('metric')[0])),
    ];
  };
}

/** Compiles the expectations for an address. `state` is the beginning of the table's text, in any case: `full` for `Full/DR`. */
export function judgeNeighbour({ present = true, state, interface: wanted }: StepExpect, address: string): Judge<TableResult> {
  return ({ rows }) => {
    const found = rows.filter((row) => row.address?.includes(address));
    const states = found.flatMap((row) => row.state ?? []);
    const isState = states.some((one) => one.toLowerCase().startsWith(state?.toLowerCase() ?? ''));
    const isThere = found.length > 0 && (state === undefined || isState);
    if (!present) return isThere ? [`${address} is a neighbour: ${found.map(rowText).join('; ')}`] : [];
    if (found.length === 0) return [`${address} is not a neighbour`];
    return [
      ...(isThere ? [] : [`the state of ${address} is ${states.join(', ') || 'unknown'}, expected ${state}`]),
      ...lacks(
        'interface',
        found.flatMap((row) => row.interface ?? []),
        wanted,
      ),
    ];
  };
}

function lacks(column: string, values: readonly string[], wanted: string | undefined): string[] {
  return wanted === undefined || values.includes(wanted)
    ? []
    : [`the ${column} is ${values.join(', ') || 'unknown'}, expected ${wanted}`];
}

/** Normalises a prefix: tables write the default route, and a route to one host, in two ways. */
function prefixText(text: string): string {
  if (text === 'default') return '0.0.0.0/0';
  return text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`;
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined || text === '' ? undefined : Number(text);
}

function rowText(row: TableRow): string {
  return Object.entries(row)
    .filter(([, values]) => values.length > 0)
    .map(([column, values]) => `${column} ${values.join(' ')}`)
    .join(', ');
}
