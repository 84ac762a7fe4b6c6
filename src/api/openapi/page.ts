/** Renders the document as plain HTML, without scripts or resources of other servers. */
import type { Json } from './components.ts';
import type { ApiDocument, Operation } from './document.ts';

const style = `
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff }
code, pre { font: 13px/1.45 ui-monospace, monospace } pre { overflow-x: auto; background: #f4f5f7; padding: .75rem; border-radius: 4px }
details { border-top: 1px solid #ddd; padding: .35rem 0 } summary { cursor: pointer } table { border-collapse: collapse; margin: .5rem 0 }
td, th { text-align: left; padding: .15rem 1rem .15rem 0; vertical-align: top } .method { display: inline-block; width: 4.5rem; font-weight: 600 }
.own { background: #e6f0e6; color: #2a5a2a; border-radius: 3px; padding: 0 .4rem; font-size: 12px } nav a { margin-right: 1rem }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #1b1d20 } pre { background: #26292e } details { border-color: #444 } a { color: #8ab4f8 } }`;

export function pageOf(document: ApiDocument): string {
  const chapters = new Map<string, string[]>();
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const [tag = ''] = operation.tags;
      chapters.set(tag, [...(chapters.get(tag) ?? []), operationHtml(method, path, operation)]);
    }
  }
  const { title, version, description } = document.info;
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) => `<details id="schema-${name}"><summary><code>${name}</code></summary>${schemaHtml(schema)}</details>`,
  );
  const links = [...chapters.keys(), 'schemas'].map((tag) => `<a href="#${tag}">${plain(tag)}</a>`);
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${plain(title)} API</title><style>${style}</style>
<h1>${plain(title)} API</h1><p>Version ${plain(version)}. ${plain(description)}</p>
<p>For programs: <a href="/openapi.json">openapi.json</a></p><nav>${links.join('')}</nav>
${[...chapters].map(([tag, items]) => `<h2 id="${tag}">${plain(tag)}</h2>${items.join('')}`).join('')}
<h2 id="schemas">schemas</h2>${schemas.join('')}</html>\n`;
}

function operationHtml(method: string, path: string, operation: Operation): string {
  const own = operation['x-patchbay-own'] === true ? ' <span class="own">beyond the GNS3 API</span>' : '';
  const head = `<summary><span class="method">${method.toUpperCase()}</span> <code>${plain(path)}</code> ${plain(operation.summary)}${own}</summary>`;
  const rows = operation.parameters.map(
    ({ name, in: place, description = '' }) => `<tr><td><code>${plain(name)}</code><td>${place}<td>${plain(description)}</tr>`,
  );
  const parameters = rows.length > 0 ? `<table><tr><th>Parameter<th>in<th></tr>${rows.join('')}</table>` : '';
  const body = operation.requestBody ? `<p>Body</p>${contentHtml(operation.requestBody.content)}` : '';
  const answers = Object.entries(operation.responses).flatMap(([status, answer]) =>
    'description' in answer ? [`<p>${status}: ${plain(answer.description)}</p>${contentHtml(answer.content ?? {})}`] : [],
  );
  return `<details id="${operation.operationId}">${head}${parameters}${body}${answers.join('')}</details>`;
}

function contentHtml(content: Record<string, { schema: Json }>): string {
  const parts = Object.entries(content).map(
    ([type, { schema }]) => `${type === 'application/json' ? '' : `<code>${plain(type)}</code>`}${schemaHtml(schema)}`,
  );
  return parts.join('');
}

function schemaHtml(schema: Json): string {
  if (Object.keys(schema).length === 0) return '';
  const text = plain(JSON.stringify(schema, null, 2));
  return `<pre>${text.replace(/#\/components\/schemas\/(\w+)/g, '<a href="#schema-$1">$1</a>')}</pre>`;
}

function plain(value: unknown): string {
  return String(value).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
