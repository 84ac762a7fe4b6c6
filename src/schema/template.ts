/** Properties that templates of all types share. Each type's own are in its folder of `src/emulators`. */
import { GivenName, maxTextLength, Name, named, nullable, oneOf, strict, Text, Uuid } from './common.ts';
import { type NodeType, nodeTypes, strictChoice, templateTypes } from './node.ts';
import { type Static, type TSchema, Type } from './type.ts';

/** Categories, in the order of the numbers that old clients use. */
export const categories = ['router', 'switch', 'guest', 'firewall'] as const;
export type Category = (typeof categories)[number];

const Category = Type.Union([
  oneOf(categories),
  Type.Integer({ minimum: 0, maximum: categories.length - 1, description: 'Old form: router, switch, guest, firewall' }),
]);

const common = {
  builtin: Type.Optional(Type.Boolean({ description: 'Ignored: the server decides' })),
  category: Type.Optional(Category),
  compute_id: nullable(Name({ description: 'null: chosen when the template is used' })),
  default_name_format: Type.Optional(Name({ description: '{name} is the name of the template, {0} a number' })),
  name: Name(),
  symbol: Type.Optional(Name()),
  template_id: Type.Optional(Uuid),
  template_type: oneOf(templateTypes),
};

/** Body of a creation. The type's own properties are checked later, by the type. */
export const TemplateCreate = Type.Object({ ...common, name: GivenName() }, { title: 'TemplateCreate' });
export const TemplateUpdate = Type.Object(
  {
    ...common,
    compute_id: Type.Optional(nullable(Name())),
    name: Type.Optional(GivenName()),
    template_type: Type.Optional(Name()),
  },
  { title: 'TemplateUpdate' },
);
export const TemplateUse = Type.Object(
  {
    compute_id: Type.Optional(nullable(Text())),
    name: Type.Optional(nullable(GivenName({ minLength: 0, description: 'In place of the name that the template makes' }))),
    x: Type.Integer(),
    y: Type.Integer(),
    strict: strictChoice,
  },
  named('TemplateUse'),
);
export type TemplateCreate = Static<typeof TemplateCreate>;
export type TemplateUpdate = Static<typeof TemplateUpdate>;
export type TemplateUse = Static<typeof TemplateUse>;

/** The booted machine of a template: its nodes continue from the machine's memory. */
export const TemplateWarm = Type.Object(
  {
    machine_id: Uuid,
    node_name: Type.String({ description: 'Name of the node whose machine was saved' }),
    created_at: Type.Integer({ description: 'Seconds since 1970' }),
    bytes: Type.Integer({ description: 'Disks and memory, on the disk of the compute' }),
    paused_ms: Type.Integer({ description: 'How long the machine was paused' }),
  },
  named('TemplateWarm'),
);
export type TemplateWarm = Static<typeof TemplateWarm>;

/** Fields of a template that only GNS3 3 shows. */
export const TemplateDetails = Type.Object(
  {
    version: nullable(Type.String()),
    tags: Type.Array(Type.String()),
    created_at: Type.String({ description: 'UTC, without a zone' }),
    updated_at: Type.String({ description: 'UTC, without a zone' }),
  },
  named('TemplateDetails'),
);
export type TemplateDetails = Static<typeof TemplateDetails>;

/** Turns a running node into a template. */
export const WarmTemplateCreate = Type.Object(
  {
    name: Type.Optional(GivenName({ description: 'Name of the new template; default: the name of the node with "-warm"' })),
    template_id: Type.Optional(Uuid),
  },
  named('WarmTemplateCreate'),
);
export type WarmTemplateCreate = Static<typeof WarmTemplateCreate>;

/** A whole template, with its type's properties. */
export const TemplateObject = Type.Object(
  {
    builtin: Type.Boolean(),
    category: oneOf(categories),
    compute_id: nullable(Type.String()),
    default_name_format: Type.String(),
    name: Type.String(),
    symbol: Type.String(),
    template_id: Uuid,
    template_type: oneOf(nodeTypes),
    warm: Type.Optional(TemplateWarm),
  },
  { title: 'Template' },
);
export type Template = Readonly<Record<string, unknown>> & {
  readonly builtin: boolean;
  readonly category: Category;
  readonly compute_id: string | null;
  readonly default_name_format: string;
  readonly name: string;
  readonly symbol: string;
  readonly template_id: string;
  readonly template_type: NodeType;
  /** Absent unless the template has a booted machine. */
  readonly warm?: TemplateWarm;
};

/** A type's own properties; schemas with `default` are filled in when absent. */
export type TypeProperties = Readonly<Record<string, TSchema>>;

/** A key that is filled in when absent. */
export const filled = (schema: TSchema, standard: unknown): TSchema =>
  Type.Optional(Type.Unsafe<unknown>({ ...schema, default: standard }));

/** Returns the strict schema of a whole template of one type. */
export function wholeTemplate(properties: TypeProperties): TSchema {
  return Type.Object({ ...common, category: Type.Optional(oneOf(categories)), template_type: Name(), ...properties }, strict);
}

/** A name of a file or a program: text that may be empty. */
export const textOf = (description: string) => Text({ maxLength: maxTextLength, description });
