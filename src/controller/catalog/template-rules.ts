/** Checks templates, completes them with defaults, and derives the settings of a node from them. Nothing here does I/O. */
import { problemsOf } from '../../api/validate.ts';
import type { TemplateFacts } from '../../emulators/kind.ts';
import { templateFacts } from '../../emulators/kinds.ts';
import { categories, type Template, type TypeProperties, wholeTemplate } from '../../schema/template.ts';
import { type TSchema, Type } from '../../schema/type.ts';
import { canonical } from '../model/canonical.ts';

type TemplateSettings = Readonly<Record<string, unknown>>;

/** Keys and values of older forms as they are today. */
export function modernised(given: TemplateSettings): Record<string, unknown> {
  // The server knows what machine a template holds; clients send back what they got.
  const { linked_base, server, node_type, warm: _, ...others } = given;
  const settings: Record<string, unknown> = others;
  if (linked_base !== undefined) settings.linked_clone ??= linked_base;
  if (server !== undefined) settings.compute_id ??= server;
  if (node_type !== undefined) settings.template_type ??= node_type;
  if (typeof settings.category === 'number') settings.category = categories[settings.category] ?? settings.category;
  // GNS3 templates for IOU name their image by its `path`; that property takes precedence over `image`.
  if (settings.path !== undefined) delete settings.image;
  return settings;
}

/** Checks whole templates. Schemas are kept, because their validators are. */
export class TemplateRules {
  readonly #schemas = new Map<string, TSchema>();

  /** Completes settings to a template. Returns the error as text when they are not valid. */
  async complete(given: TemplateSettings): Promise<Template | string> {
    const settings = { ...modernised(given), builtin: false };
    const type = String((settings as TemplateSettings).template_type);
    const facts = templateFacts.get(type);
    if (!facts?.properties) return `there are no templates of type "${type.slice(0, 100)}"`;
    const problem = await problemsOf(this.#schemaOf(type, facts, settings), settings);
    if (problem !== undefined) return problem;
    const { default_name_format, symbol, category } = facts;
    const standard = { compute_id: null, default_name_format, symbol, category, template_id: crypto.randomUUID() };
    return canonical({ ...standard, ...defaultsOf(propertiesOf(facts, settings)), ...settings } as unknown as Template);
  }

  /** Describes the errors of a built-in template after a change. Clients may not create templates of some built-in types. */
  async problemsOfBuiltIn(template: Template): Promise<string | undefined> {
    const facts = templateFacts.get(template.template_type);
    const properties = Type.Optional(Type.Record(Type.String(), Type.Unknown()));
    return problemsOf(
      this.#kept(`built-in ${template.template_type}`, () => wholeTemplate({ ...facts?.properties, properties })),
      template,
    );
  }

  #schemaOf(type: string, facts: TemplateFacts, settings: TemplateSettings): TSchema {
    const more = facts.more?.(settings) ?? {};
    // Only variants that exist are kept, not every word that a client may send.
    const variant = Object.keys(more).length === 0 ? type : `${type} ${settings.platform}`;
    return this.#kept(variant, () => wholeTemplate({ ...facts.properties, ...more }));
  }

  #kept(name: string, make: () => TSchema): TSchema {
    const schema = this.#schemas.get(name) ?? make();
    this.#schemas.set(name, schema);
    return schema;
  }
}

function propertiesOf(facts: TemplateFacts, settings: TemplateSettings): TypeProperties {
  return { ...facts.properties, ...facts.more?.(settings) };
}

function defaultsOf(properties: TypeProperties): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([key, schema]) => {
      const standard: unknown = (schema as { default?: unknown }).default;
      return standard === undefined ? [] : [[key, standard]];
    }),
  );
}
