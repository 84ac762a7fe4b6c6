/** Validates a lab file against its schema. The first error suggests the closest field name. */
// `typebox/compile` would load three times as many modules, for values that are not JSON.
import { Check, Compile, Errors, type Validator } from 'typebox/schema';
import type { TSchema } from '../../src/schema/type.ts';
import { LabError, type Place, suggestion } from './lab-error.ts';
import { isTreeMap, type Places, type Tree } from './read-yaml.ts';

interface ShapeProblem {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message: string;
  readonly schemaPath: string;
}

/** Values that are checked with a schema before it is compiled: the schema of lab files is compiled in the time of some 3,000 (55 ms). */
const interpretedValues = 2000;

/** Validates with schemas that are compiled once, where there is much to validate. */
export class ShapeChecks {
  readonly #validators = new WeakMap<TSchema, Validator>();
  readonly #checked = new WeakMap<TSchema, number>();

  /** Validates a value. @throws LabError */
  check(schema: TSchema, value: Tree, places: Places): void {
    if (this.#isValid(schema, value)) return;
    const [, problems] = Errors(schema, value);
    const problem = mostSpecific(problems as ShapeProblem[]);
    if (!problem) throw new LabError('the lab file does not have the form of one');
    const path = pathOf(problem.instancePath);
    throw explain(schema, problem, path, (extra) => places.at(value, [...path, ...extra]));
  }

  #isValid(schema: TSchema, value: Tree): boolean {
    const checked = (this.#checked.get(schema) ?? 0) + countValues(value);
    this.#checked.set(schema, checked);
    if (checked <= interpretedValues) return Check(schema, value);
    const validator = this.#validators.get(schema) ?? Compile(schema);
    this.#validators.set(schema, validator);
    return validator.Check(value);
  }
}

function countValues(tree: Tree): number {
  if (typeof tree !== 'object' || tree === null) return 1;
  return Object.values(tree).reduce((sum, one) => sum + countValues(one), 1);
}

/** Names of types in the words of YAML. A common mistake is a number without its unit where a text is expected. */
const typeNames: Readonly<Record<string, string>> = {
  array: 'a list: [A, B]',
  object: 'a map: fields with values',
  string: 'a text. Give a number its unit, or write it in quotes',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
};

function nameOfTypes(types: unknown): string {
  return [types]
    .flat()
    .map((type) => typeNames[String(type)] ?? String(type))
    .join(', or ');
}

function pathOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Chooses the problem to explain: the one of the variant that the value fits best. */
function mostSpecific(problems: readonly ShapeProblem[]): ShapeProblem | undefined {
  const depth = ({ instancePath, keyword }: ShapeProblem) =>
    instancePath.split('/').length * 4 + (keyword === 'additionalProperties' ? 2 : keyword === 'anyOf' ? 0 : 1);
  return problems
    .filter(({ keyword }) => keyword !== 'boolean')
    .reduce<ShapeProblem | undefined>((best, one) => (best === undefined || depth(one) > depth(best) ? one : best), undefined);
}

function explain(
  schema: TSchema,
  problem: ShapeProblem,
  path: readonly string[],
  place: (extra: readonly string[]) => Place | undefined,
): LabError {
  const where = path.length === 0 ? 'the lab file' : path.join('.');
  const { keyword, params } = problem;
  if (keyword === 'additionalProperties') {
    const [name = ''] = (params.additionalProperties as string[] | undefined) ?? [];
    return new LabError(`there is no field "${name}" in ${where}${suggestion(name, fieldsAt(schema, path))}`, place([name]));
  }
  if (keyword === 'enum') {
    const known = (params.allowedValues as unknown[] | undefined) ?? [];
    return new LabError(`${where} must be one of ${known.join(', ')}`, place([]));
  }
  if (keyword === 'required') {
    const missing = (params.requiredProperties as string[] | undefined) ?? [];
    return new LabError(`${where} lacks ${missing.join(', ')}. Add it`, place([]));
  }
  if (keyword === 'type') return new LabError(`${where} must be ${nameOfTypes(params.type)}`, place([]));
  if (keyword === 'pattern') return new LabError(`${where} does not have the form ${String(params.pattern)}`, place([]));
  if (keyword === 'anyOf') return new LabError(`${where} has none of the forms that it may have: see docs/lab-file.md`, place([]));
  return new LabError(`${where} ${problem.message}`, place([]));
}

/** Lists the fields that an object at a path may have. */
function fieldsAt(schema: TSchema, path: readonly string[]): string[] {
  let found: readonly Tree[] = [schema];
  for (const key of path) found = found.flatMap((one) => below(one, key));
  return found.flatMap(variants).flatMap((one) => (isTreeMap(one) && isTreeMap(one.properties) ? Object.keys(one.properties) : []));
}

function variants(schema: Tree): Tree[] {
  return isTreeMap(schema) && Array.isArray(schema.anyOf) ? schema.anyOf.flatMap(variants) : [schema];
}

function below(schema: Tree, key: string): Tree[] {
  return variants(schema).flatMap((one) => {
    if (!isTreeMap(one)) return [];
    if (isTreeMap(one.properties) && Object.hasOwn(one.properties, key)) return [one.properties[key]];
    if (isTreeMap(one.patternProperties)) return Object.values(one.patternProperties);
    return one.items === undefined ? [] : [one.items];
  });
}
