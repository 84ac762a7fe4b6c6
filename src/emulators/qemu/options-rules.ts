/**
 * Shapes of QEMU options that a user of a shared server may write, and the check of one value. QEMU's own grammar of option strings:
 * pieces are separated by commas, a comma inside a value is doubled, and the first piece may leave out the name of the implied key.
 * @see qemu(1), and "QemuOpts" and "keyval" in QEMU's documentation
 */

/** Patterns of values by key. */
export type Keys = ReadonlyMap<string, RegExp>;

export type Rule =
  | { readonly form: 'flag' }
  /** The value is matched as a whole. */
  | { readonly form: 'value'; readonly pattern: RegExp }
  /** A list of keys; the first one may be implied. */
  | { readonly form: 'keys'; readonly implied?: string; readonly keys: Keys }
  /** The selector key (type of a device, object or backend) chooses which other keys are allowed. */
  | { readonly form: 'variants'; readonly selector: string; readonly variants: ReadonlyMap<string, Keys> };

/** Why this value is refused; undefined when it is allowed. */
export function refuseValue(rule: Rule, value: string): string | undefined {
  switch (rule.form) {
    case 'flag':
      return 'it takes no value';
    case 'value':
      return rule.pattern.test(value) ? undefined : `the value "${brief(value)}" is none that is allowed here`;
    case 'keys':
      return refuseKeys(pieces(value, rule.implied), rule.keys);
    case 'variants':
      return refuseVariant(pieces(value, rule.selector), rule);
  }
}

export interface Piece {
  readonly key: string;
  /** Undefined for a key without a value, which is a switch. */
  readonly value: string | undefined;
}

/** An option string in pieces, with doubled commas as one. */
export function pieces(text: string, implied?: string): Piece[] {
  const parts = text.split(/(?<!,)((?:,,)*),(?!,)/);
  // The pairs of commas that end a part are caught by the pattern, and belong to the part before.
  const joined = parts.flatMap((part, index) => (index % 2 === 0 ? [part + (parts[index + 1] ?? '')] : []));
  return joined.map((part, index) => {
    const at = part.indexOf('=');
    const comma = part.indexOf(',');
    const hasKey = at !== -1 && (comma === -1 || at < comma);
    if (hasKey) return { key: part.slice(0, at), value: part.slice(at + 1).replaceAll(',,', ',') };
    if (index === 0 && implied !== undefined) return { key: implied, value: part.replaceAll(',,', ',') };
    return { key: part, value: undefined };
  });
}

function refuseKeys(given: readonly Piece[], keys: Keys): string | undefined {
  const seen = new Set<string>();
  for (const { key, value } of given) {
    const name = knownName(key, value, keys);
    const pattern = name === undefined ? undefined : keys.get(name);
    if (name === undefined || pattern === undefined) return `the key "${brief(key)}" is none that is allowed here`;
    // QEMU takes the last one of several: a check of one of them would prove nothing.
    if (seen.has(name)) return `the key "${brief(key)}" stands there twice`;
    seen.add(name);
    const meant = value ?? (name === key ? 'on' : 'off');
    if (!pattern.test(meant)) return `the value "${brief(meant)}" of ${key} is none that is allowed here`;
  }
  return undefined;
}

/** A key without a value is a switch: `name` for on, `noname` for off. */
function knownName(key: string, value: string | undefined, keys: Keys): string | undefined {
  if (keys.has(key)) return key;
  const positive = value === undefined && key.startsWith('no') ? key.slice(2) : '';
  return keys.has(positive) ? positive : undefined;
}

function refuseVariant(
  given: readonly Piece[],
  { selector, variants }: { selector: string; variants: ReadonlyMap<string, Keys> },
): string | undefined {
  const chosen = given.filter(({ key }) => key === selector);
  const [first] = chosen;
  if (chosen.length !== 1 || first?.value === undefined) return `it must have one ${selector}`;
  const keys = variants.get(first.value);
  if (keys === undefined) return `the ${selector} "${brief(first.value)}" is none that is allowed here`;
  return refuseKeys(
    given.filter((piece) => piece !== first),
    keys,
  );
}

const brief = (text: string) => (text.length > 60 ? `${text.slice(0, 60)}…` : text);
