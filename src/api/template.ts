/** Compiles route templates in brace form: `{name}` matches one path segment, `{name:regex}` a text that matches the expression. */

export interface PathTemplate {
  /** Returns percent-decoded parameters when the path (without query) matches. */
  match(path: string): Record<string, string> | undefined;
}

const parameter = /\{(\w+)(?::([^}]+))?\}/g;

export function compileTemplate(template: string): PathTemplate {
  const names = Array.from(template.matchAll(parameter), (found) => found[1] as string);
  const expression = new RegExp(`^${sourceOf(template, (part) => `(${part})`)}$`);
  return {
    match(path) {
      const found = expression.exec(path);
      if (!found) return undefined;
      try {
        return Object.fromEntries(names.map((name, index) => [name, decodeURIComponent(found[index + 1] as string)]));
      } catch {
        return undefined;
      }
    },
  };
}

/**
 * Converts a template for the router: `:name`, `:name(^regex$)`, and `*` for a final `{name:.+}`. The router cannot match a
 * `{name:.+}` before the end, so `joinSlashes` encodes it as one segment first.
 */
export function routerPath(template: string): string {
  return template.replace(parameter, (whole, name: string, expression?: string) => {
    if (expression === undefined) return `:${name}`;
    if (expression === '.+') return template.endsWith(whole) ? '*' : `:${name}`;
    return `:${name}(^${expression}$)`;
  });
}

/**
 * Returns a function that encodes the slashes of a `{name:.+}` parameter before the end of a path, so that it is one segment. Paths
 * of other templates are returned unchanged.
 */
export function joinSlashes(templates: Iterable<string>): (url: string) => string {
  const expressions = [...new Set(templates)].flatMap((template) => {
    const found = /^(.*)\{\w+:\.\+\}(.+)$/.exec(template);
    if (!found) return [];
    const [before, after] = [found[1] ?? '', found[2] ?? ''].map((part) => sourceOf(part, (inner) => `(?:${inner})`));
    return [new RegExp(`^(?<before>${before})(?<value>.+)(?<after>${after})$`)];
  });
  return (url) => {
    const end = url.indexOf('?');
    const path = end < 0 ? url : url.slice(0, end);
    for (const expression of expressions) {
      const found = expression.exec(path)?.groups;
      if (found) return `${found.before}${found.value?.replaceAll('/', '%2F')}${found.after}${url.slice(path.length)}`;
    }
    return url;
  };
}

/** Converts a template to a regular expression's source; `write` formats the parameters' own expressions. */
function sourceOf(template: string, write: (expression: string) => string): string {
  let source = '';
  let last = 0;
  for (const found of template.matchAll(parameter)) {
    source += `${escapeExpression(template.slice(last, found.index))}${write(found[2] ?? '[^/]+')}`;
    last = found.index + found[0].length;
  }
  return source + escapeExpression(template.slice(last));
}

function escapeExpression(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
