/**
 * Replaces variables: `${name}` in a text stands for the value as the file writes it (`1.10`), `$${` for `${`. A text that is a single
 * variable is the value itself, with its type.
 */
import { LabError, type Place, suggestion } from './lab-error.ts';
import { isTreeMap, type Places, type Tree } from './read-yaml.ts';

export interface Variable {
  readonly value: string | number | boolean;
  /** The value in texts. */
  readonly text: string;
}
export type Values = ReadonlyMap<string, Variable>;

export function variable(value: Variable['value'], text = String(value)): Variable {
  return { value, text };
}

/** Variables that differ per node: replaced when the nodes are expanded. */
export const nodeVariables = ['node', 'index'] as const;
const reference = /\$(\$?)\{([^{}]*)\}/g;
export const variableName = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
/** Longest text after replacement, characters. */
const maxLength = 1_048_576;

/** Fills in a text. @throws LabError for a name without a value */
export function fill(text: string, values: Values, place: Place | undefined, later: readonly string[] = []): Tree {
  if (!text.includes('${')) return text;
  const whole = /^\$\{([^{}]*)\}$/.exec(text)?.[1];
  if (whole !== undefined && values.has(whole)) return values.get(whole)?.value;
  let { length } = text;
  return text.replace(reference, (match: string, escaped: string, name: string) => {
    if (later.length > 0 && (escaped !== '' || later.includes(name))) return match;
    if (escaped !== '') return match.slice(1);
    const value = values.get(name);
    if (value === undefined) {
      throw new LabError(
        `there is no variable "${name}"${suggestion(name, [...values.keys(), ...later])} Write $\${${name}} for the text itself`,
        place,
      );
    }
    const shown = value.text;
    length += shown.length - match.length;
    // The length is checked while it grows: many variables may exceed the longest possible string.
    if (length > maxLength) throw new LabError(`a text becomes longer than ${maxLength} characters`, place);
    return shown;
  });
}

/** Fills in all texts of a tree, in place for trees from files; keys stay unchanged. */
export function fillAll(tree: Tree, values: Values, places: Places, later: readonly string[] = []): Tree {
  if (Array.isArray(tree)) {
    tree.forEach((item: Tree, index) => {
      tree[index] =
        typeof item === 'string' ? fill(item, values, places.of(tree, index), later) : fillAll(item, values, places, later);
    });
    return tree;
  }
  if (!isTreeMap(tree)) return tree;
  for (const [key, item] of Object.entries(tree)) {
    tree[key] = typeof item === 'string' ? fill(item, values, places.of(tree, key), later) : fillAll(item, values, places, later);
  }
  return tree;
}

/** Copies a tree with the same places. */
export function copyTree<T extends Tree>(tree: T, places: Places): T {
  if (typeof tree !== 'object' || tree === null) return tree;
  const copy: object = Array.isArray(tree)
    ? tree.map((item: Tree) => copyTree(item, places))
    : Object.fromEntries(Object.entries(tree).map(([key, item]) => [key, copyTree(item as Tree, places)]));
  places.copy(tree, copy);
  return copy as T;
}

/** Escapes what `fill` would take for a variable, for files that are written. */
export function escapeVariables(text: string): string {
  return text.replaceAll(/\$\{[^{}]*\}/g, (found) => `$${found}`);
}
