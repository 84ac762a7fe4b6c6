/** Route templates in brace form: `{name}` is one path segment, `{name:regex}` what the expression matches. */

export interface Template {
  /** Percent-decoded parameters when the path (without query) matches. */
  match(path: string): Record<string, string> | undefined;
}

const parameter = /\{(\w+)(?::([^}]+))?\}/g;

export function compileTemplate(template: string): Template {
  const names: string[] = [];
  let source = '';
  let last = 0;
  for (const found of template.matchAll(parameter)) {
    source += escapeExpression(template.slice(last, found.index));
    source += `(${found[2] ?? '[^/]+'})`;
    names.push(found[1] as string);
    last = found.index + found[0].length;
  }
  const expression = new RegExp(`^${source}${escapeExpression(template.slice(last))}$`);
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

/** The form in which the router takes it: `:name`, `:name(^regex$)`, and `*` for a last `{name:.+}`. */
export function routerPath(template: string): string {
  return template.replace(parameter, (whole, name: string, expression?: string) => {
    if (expression === undefined) return `:${name}`;
    if (expression === '.+' && template.endsWith(whole)) return '*';
    return `:${name}(^${expression}$)`;
  });
}

function escapeExpression(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
