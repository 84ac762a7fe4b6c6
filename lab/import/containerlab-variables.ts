/**
 * Variables of containerlab's topologies, which it takes from its own environment: `$NAME`, `${NAME:=default}`, and `$$` for `$`. They stand
 * anywhere in the text of the file, before it is read as YAML. Source: containerlab's documents (manual/topo-def-file).
 */

/** A crypt hash (`$6$salt$hash`), an escaped dollar, a variable in braces with what stands in place of it, and a plain variable. */
const reference =
  /(?<hash>\$\d\w?\$[\w./=,]*(?:\$[\w./=,]+)*)|\$\$|\$\{(?<braced>[A-Za-z_]\w{0,99})(?:(?<operator>:?[-=+])(?<other>[^{}]*))?\}|\$(?<plain>[A-Za-z]\w{0,99})/g;
const commentLine = /^[^\S\n]*#.*$/gm;

interface VariableMatch {
  readonly hash?: string;
  readonly braced?: string;
  readonly operator?: string;
  readonly other?: string;
  readonly plain?: string;
}

/**
 * Replaces variables as containerlab does where its environment has none of them: those with a default get it, others stay. `found`: gets each
 * variable, with what became of it.
 */
function expandVariables(text: string, found: Map<string, string>): string {
  return text.replaceAll(reference, (given: string, ...more: readonly unknown[]) => {
    const { hash, braced, operator, other = '', plain } = more.at(-1) as VariableMatch;
    if (hash !== undefined) return given;
    const name = braced ?? plain;
    if (name === undefined) return '$';
    if (operator === undefined) {
      found.set(name, 'it has no default, and stays in the text');
      return given;
    }
    const isAlternative = operator.endsWith('+');
    const shown = other.slice(0, 200);
    found.set(name, isAlternative ? `it has no value, which leaves "${shown}" out` : `its default ${shown}`);
    return isAlternative ? '' : expandVariables(other, found);
  });
}

/** Replaces the variables of a file; those that only lines of comments have are not reported. */
export function expandFile(text: string, found: Map<string, string>): string {
  expandVariables(text.replaceAll(commentLine, ''), found);
  return expandVariables(text, new Map());
}

/** Escapes dollars at which containerlab would see a variable. */
export function escapeDollars(text: string): string {
  return text.replaceAll(/\$(?=[\w{$])/g, () => '$$');
}
