/** A route with a JSON body, and values for its ids and fields. */
import type { Sort } from './wrong-values.ts';

/** Ids that the tests made; each is filled into `{…}` of a line. */
export type Ids = Readonly<Record<string, string>>;
type Body = Record<string, unknown>;

export interface JsonRoute {
  /** Method and template. */
  readonly line: string;
  readonly good: (ids: Ids) => Body;
  /** Dotted for fields of inner objects; `0` for the first item of a list. */
  readonly fields: Readonly<Record<string, Sort>>;
  /** Unknown keys are accepted (free objects). */
  readonly open?: boolean;
  /** Whether the schema that the program publishes refuses a body; undefined without a schema. */
  readonly refuses?: (body: unknown) => boolean;
  /** The controller passes the body to the compute and declares no schema. */
  readonly relayed?: boolean;
}

export function fill(line: string, ids: Ids): string {
  return line.replace(/\{(\w+)\}/g, (whole, key: string) => ids[key] ?? whole);
}

/** The body with the value at a dotted place. */
export function withValue(body: Body, place: string, value: unknown): Body {
  const copy = structuredClone(body);
  const steps = place.split('.');
  let at: Record<string, unknown> = copy;
  for (const [index, step] of steps.slice(0, -1).entries()) {
    const next = steps[index + 1] ?? '';
    at[step] ??= /^\d+$/.test(next) ? [] : {};
    at = at[step] as Record<string, unknown>;
  }
  at[steps.at(-1) ?? ''] = value;
  return copy;
}
