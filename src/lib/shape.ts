/**
 * Declares shapes of JSON values: one declaration is both the type and the check. The check walks the value: no compiler and no
 * library is loaded, so that processes start quickly.
 */
export interface Shape<T> {
  /** Returns the fault of a value that is called `name`; undefined: it matches. */
  problem(value: unknown, name: string): string | undefined;
  readonly isOptional?: boolean;
  /** Carries the type for the compiler; absent at run time. */
  readonly value?: T;
}
interface OptionalShape<T> extends Shape<T> {
  readonly isOptional: true;
}
export type ValueOf<S> = S extends Shape<infer T> ? T : never;

type Fields = Readonly<Record<string, Shape<unknown>>>;
type Flat<T> = { [K in keyof T]: T[K] };
type ObjectOf<F extends Fields> = Flat<
  { [K in keyof F as F[K] extends OptionalShape<unknown> ? never : K]: ValueOf<F[K]> } & {
    [K in keyof F as F[K] extends OptionalShape<unknown> ? K : never]?: ValueOf<F[K]>;
  }
>;
type VariantsOf<Tag extends string, V extends Readonly<Record<string, Fields>>> = {
  [K in keyof V]: Flat<{ [T in Tag]: K } & ObjectOf<V[K]>>;
}[keyof V];

/** An object; undeclared keys are refused. */
export function object<F extends Fields>(fields: F): Shape<ObjectOf<F>> {
  return { problem: (value, name) => (isObject(value) ? problemOfFields(value, fields, name) : `${name} must be an object`) };
}

/** Objects whose variant the text at the key `tag` decides. */
export function variants<Tag extends string, V extends Readonly<Record<string, Fields>>>(
  tag: Tag,
  of: V,
): Shape<VariantsOf<Tag, V>> {
  return {
    problem: (value, name) => {
      if (!isObject(value)) return `${name} must be an object`;
      const { [tag]: variant, ...rest } = value;
      if (typeof variant !== 'string' || !Object.hasOwn(of, variant)) return `${name}.${tag} must be one of ${Object.keys(of)}`;
      return problemOfFields(rest, of[variant] ?? {}, name);
    },
  };
}

export function list<T>(items: Shape<T>): Shape<T[]> {
  return {
    problem: (value, name) => {
      if (!Array.isArray(value)) return `${name} must be a list`;
      for (const [index, item] of value.entries()) {
        const problem = items.problem(item, `${name}[${index}]`);
        if (problem !== undefined) return problem;
      }
      return undefined;
    },
  };
}

export function optional<T>(shape: Shape<T>): OptionalShape<T> {
  return { ...shape, isOptional: true };
}

export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  return { problem: (value, name) => (value === null ? undefined : shape.problem(value, name)) };
}

export function oneOf<const T extends string>(...values: T[]): Shape<T> {
  return satisfying((value) => (values as unknown[]).includes(value), `must be one of ${values}`);
}

/** A whole number from `first` to `last`, both included. */
export function whole(first = Number.MIN_SAFE_INTEGER, last = Number.MAX_SAFE_INTEGER): Shape<number> {
  const within = (value: unknown) => Number.isInteger(value) && Number(value) >= first && Number(value) <= last;
  return satisfying(within, `must be a whole number from ${first} to ${last}`);
}

export const finite: Shape<number> = satisfying(Number.isFinite, 'must be a number');
export const flag: Shape<boolean> = satisfying((value) => typeof value === 'boolean', 'must be true or false');
export const text: Shape<string> = satisfying((value) => typeof value === 'string', 'must be text');

/** A text for which `test` holds; `says` follows its name in the message. */
export function textThat(test: (value: string) => boolean, says: string): Shape<string> {
  return satisfying((value) => typeof value === 'string' && test(value), says);
}

/** A value of any type; another function checks that it is a `T`. */
export function unchecked<T>(): Shape<T> {
  return { problem: () => undefined };
}

function satisfying<T>(test: (value: unknown) => boolean, says: string): Shape<T> {
  return { problem: (value, name) => (test(value) ? undefined : `${name} ${says}`) };
}

function problemOfFields(value: Readonly<Record<string, unknown>>, fields: Fields, name: string): string | undefined {
  for (const [key, shape] of Object.entries(fields)) {
    if (value[key] === undefined && shape.isOptional) continue;
    const problem = shape.problem(value[key], `${name}.${key}`);
    if (problem !== undefined) return problem;
  }
  const unknown = Object.keys(value).find((key) => !Object.hasOwn(fields, key));
  return unknown === undefined ? undefined : `${name} has an unknown key ${JSON.stringify(unknown.slice(0, 100))}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
