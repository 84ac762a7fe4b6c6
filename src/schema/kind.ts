/** What each type of node can do and what can be set of it, for the page. Not part of GNS3's API. */
import { named, nullable, oneOf } from './common.ts';
import { consoleTypes, nodeTypes } from './node.ts';
import { type Static, Type } from './type.ts';

const can = (description: string) => Type.Boolean({ description });

export const KindFacts = Type.Object(
  {
    node_type: oneOf(nodeTypes),
    title: Type.String({ description: 'For people' }),
    always_running: Type.Boolean({ description: 'Is started when it is made, and stays so' }),
    console_type: nullable(oneOf(consoleTypes, { description: 'That of a node whose maker does not say; null: no console' })),
    console_types: Type.Array(oneOf(consoleTypes)),
    emulator: Type.Boolean({
      description: 'Runs in an emulator or a container engine; others are part of the data plane, or are only stored',
    }),
    images: Type.Boolean({ description: 'Is made of images that computes keep' }),
    engine_images: Type.Boolean({ description: 'Is made of images of an engine: computes list them and take no upload' }),
    templates: Type.Boolean({ description: 'Clients may create templates of this type' }),
    can: Type.Object(
      {
        suspend: can('Suspend and resume'),
        reload: can('Reset while it runs'),
        duplicate: can('Copy a node with its files'),
        filter: can('Filters on its links; one end of a link must'),
        reset_console: can('Cut all clients of the console'),
        resize_disk: can('Make disks larger'),
      },
      named('KindAbilities'),
    ),
  },
  named('KindFacts'),
);
export type KindFacts = Static<typeof KindFacts>;

const SchemaByName = Type.Record(Type.String(), Type.Unknown(), { description: 'JSON Schema of each property' });

export const KindSchemas = Type.Object(
  {
    node: Type.Object({ properties: SchemaByName }, named('NodeForm')),
    template: nullable(
      Type.Object(
        { properties: SchemaByName, required: Type.Array(Type.String({ description: 'A property without a default' })) },
        named('TemplateForm'),
      ),
    ),
  },
  named('KindSchemas'),
);
export type KindSchemas = Static<typeof KindSchemas>;
