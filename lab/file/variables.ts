/** Variables: `${name}` in a text stands for a value, `$${` for `${`. A text that is nothing but one variable takes its type as well. */
import { LabError, type Place, suggestion } from './lab-error.ts';
import { isTreeMap, type Places, type Tree } from './read-yaml.ts';

export type Values = ReadonlyMap<string, string | number | boolean>;

/** Known for each node only: replaced when the nodes are made. */
export const nodeVariables = ['node', 'index'] as const;
const reference = /\$(\$?)\{([^{}]*)\}/g;
export const variableName = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
/** What a text may grow to, in characters. */
const maxLength = 1_048_576;

/** @throws LabError for a name that has no value */
export function fill(text: string, values: Values, place: Place | undefined, later: readonly string[] = []): Tree {
  if (!text.includes('${')) return text;
  const whole = /^\$\{([^{}]*)\}$/.exec(text)?.[1];
  if (whole !== undefined && values.has(whole)) return values.get(whole);
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
    const shown = String(value);
    length += shown.length - match.length;
    // Counted while it grows: what many variables stand for may be longer than a string can be.
    if (length > maxLength) throw new LabError(`a text becomes longer than ${maxLength} characters`, place);
    return shown;
  });
}

/** The same for all texts of a tree; keys stay as they are. What was read of files is replaced in place. */
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

/** A copy of a tree with the same places. */
export function copyTree<T extends Tree>(tree: T, places: Places): T {
  if (typeof tree !== 'object' || tree === null) return tree;
  const copy: object = Array.isArray(tree)
    ? tree.map((item: Tree) => copyTree(item, places))
    : Object.fromEntries(Object.entries(tree).map(([key, item]) => [key, copyTree(item as Tree, places)]));
  places.copy(tree, copy);
  return copy as T;
}

/** Every `${` as itself, for files that are written. */
export function escapeVariables(text: string): string {
  return text.replaceAll(/\$\{/g, () => '$${');
}
