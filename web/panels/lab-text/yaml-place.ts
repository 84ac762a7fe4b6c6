/** Finds where in a lab file the cursor is, from the indentation of the lines before it: the text need not be valid YAML. */

export interface YamlPlace {
  /** Keys from the top of the file; items of lists are `-`. */
  readonly path: readonly string[];
  /** Whether a key is typed here; else the value of the last key of the path. */
  readonly isKey: boolean;
  /** The typed beginning of the key or value. */
  readonly typed: string;
}

/** Lines before the cursor that are looked at. */
const mostLines = 2000;
const keyPattern = /^(?:"([^"]*)"|'([^']*)'|([^\s#[\]{},"'-][^#[\]{},]*?)):(?:\s+|$)/;

/** `lines`: those before the cursor, and the part of its own line before it. */
export function yamlPlaceAt(lines: readonly string[]): YamlPlace | undefined {
  const own = lines.at(-1) ?? '';
  if (/^\s*#/.test(own) || /\s#/.test(own)) return undefined;
  const opened = openFlow(own);
  const head = opened ? own.slice(0, opened.at) : own;
  const [indent, keys, rest] = readLine(head);
  const path = [...outerKeys(lines.slice(0, -1), indent), ...keys];
  if (!opened) return (keys.at(-1) ?? '-') === '-' ? { path, isKey: true, typed: rest } : value(path, rest);
  return opened.parts.reduce<YamlPlace>((place, { sign, text }) => inFlow(place.path, sign, text), value(path, ''));
}

const value = (path: readonly string[], typed: string): YamlPlace => ({ path, isKey: false, typed });

function inFlow(path: readonly string[], sign: string, text: string): YamlPlace {
  const last = text.split(',').at(-1)?.trimStart() ?? '';
  if (sign === '[') return value([...path, '-'], last);
  const found = /^([^:]+):\s*(.*)$/.exec(last);
  return found ? value([...path, unquoted(found[1] ?? '')], found[2] ?? '') : { path, isKey: true, typed: last };
}

const unquoted = (text: string) => text.trim().replace(/^(['"])(.*)\1$/, '$2');

interface OpenFlow {
  /** Where the first open bracket stands. */
  readonly at: number;
  /** Open brackets with the text behind each. */
  readonly parts: readonly { readonly sign: string; readonly text: string }[];
}

/** Returns the brackets of the line that are open at its end. */
function openFlow(line: string): OpenFlow | undefined {
  const open: number[] = [];
  let quote = '';
  for (const [at, character] of [...line].entries()) {
    if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === '"' || character === "'") quote = character;
    else if (character === '{' || character === '[') open.push(at);
    else if (character === '}' || character === ']') open.pop();
  }
  const [first] = open;
  if (first === undefined) return undefined;
  return { at: first, parts: open.map((at, index) => ({ sign: line[at] ?? '', text: line.slice(at + 1, open[index + 1]) })) };
}

/** Returns the indentation of a line, the items and keys that it begins, and what follows the last of them. */
function readLine(line: string): [indent: number, keys: string[], rest: string] {
  const indent = line.length - line.trimStart().length;
  const keys: string[] = [];
  let rest = line.trimStart();
  while (rest.startsWith('- ') || rest === '-') {
    keys.push('-');
    rest = rest.slice(1).trimStart();
  }
  const found = keyPattern.exec(rest);
  if (!found) return [indent, keys, rest];
  keys.push(found[1] ?? found[2] ?? found[3] ?? '');
  return [indent, keys, rest.slice(found[0].length)];
}

/** Returns the keys of the lines that hold a line of this indentation. */
function outerKeys(before: readonly string[], indent: number): string[] {
  const found: string[] = [];
  let least = indent;
  for (const line of before.slice(-mostLines).toReversed()) {
    if (line.trim() === '' || line.trimStart().startsWith('#')) continue;
    const [own, keys] = readLine(line);
    // The key of an item stands behind its sign: `- ends: …`, and below it at the same column `filters:`.
    const isItem = keys[0] === '-';
    const column = isItem ? own + 2 : own;
    if (isItem && least >= column && own < least) {
      // A key beside the first key of the item, or one below that.
      found.unshift(...(least > column ? keys : ['-']));
      least = own;
      continue;
    }
    // A list may stand at the column of its key.
    if (own > least || (own === least && (isItem || found[0] !== '-'))) continue;
    if (own === least && found[0] === '-' && keys.length > 0) {
      found.unshift(...keys);
      continue;
    }
    if (own < least) {
      found.unshift(...keys);
      least = own;
    }
    if (least === 0 && found[0] !== '-') break;
  }
  return found;
}
