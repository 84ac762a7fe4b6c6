/** Completes the lab's text: keys and values of the JSON Schema of lab files, names of nodes in links, and templates. */
import type { Completion, CompletionSource } from '@codemirror/autocomplete';
import type { App } from '../../state/app.ts';
import type { ProjectState } from '../../state/project.ts';
import { isHeavy } from './heavy-text.ts';
import { keyOptions, type LabSchema, type SchemaOption, valueOptions } from './schema-options.ts';
import { type YamlPlace, yamlPlaceAt } from './yaml-place.ts';

/** Lines before the cursor that are looked at. */
const mostLines = 2000;

export function completeLab(app: App, project: ProjectState): CompletionSource {
  let schema: Promise<LabSchema> | undefined;
  return async ({ state, pos, explicit }) => {
    if (isHeavy(state.doc)) return null;
    const first = state.doc.line(Math.max(1, state.doc.lineAt(pos).number - mostLines));
    const text = state.doc.sliceString(first.from, pos);
    const place = yamlPlaceAt(text.split('\n'));
    if (!place || (place.typed === '' && place.isKey && !explicit)) return null;
    schema ??= app.api.get<LabSchema>('/lab.schema.json');
    const document = await schema.catch(() => undefined);
    // The next request asks the server again.
    if (!document) schema = undefined;
    const options = document ? optionsOf(document, place, { app, project, kind: kindBefore(text) }) : [];
    return options.length > 0 ? { from: pos - place.typed.length, options, validFor: /^[\w.:/-]*$/ } : null;
  };
}

interface Known {
  readonly app: App;
  readonly project: ProjectState;
  readonly kind: string | undefined;
}

function optionsOf(schema: LabSchema, { path, isKey }: YamlPlace, { app, project, kind }: Known): Completion[] {
  const shown = ({ label, description }: SchemaOption): Completion => ({
    label,
    type: isKey ? 'property' : 'enum',
    ...(isKey && { apply: `${label}: ` }),
    ...(description !== '' && { info: description }),
  });
  if (isKey) return keyOptions(schema, path, kind).map(shown);
  const names = namesAt(path, app, project).map((label): Completion => ({ label, type: 'variable' }));
  return [...names, ...valueOptions(schema, path, kind).map(shown)];
}

/** Names that the server knows: nodes at the ends of a link, and templates. */
function namesAt(path: readonly string[], app: App, project: ProjectState): readonly string[] {
  const isEnd = path[0] === 'links' && path[1] === '-' && path.at(-1) === '-';
  if (isEnd) return project.nodes.all.peek().map(({ name }) => name);
  return path.at(-1) === 'template' ? app.server.templates.all.peek().map(({ name }) => name) : [];
}

/** The kind that is written last before the cursor: a node begins with its kind. */
const kindBefore = (text: string) => [...text.matchAll(/\bkind:\s*(\w+)/g)].at(-1)?.[1];
