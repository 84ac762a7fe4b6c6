/** Describes each node type's abilities and properties for the page. Not part of GNS3's API. */
import { named, nullable, oneOf } from './common.ts';
import { consoleTypes, nodeTypes } from './node.ts';
import { type Static, Type } from './type.ts';

const can = (description: string) => Type.Boolean({ description });

export const KindFacts = Type.Object(
  {
    node_type: oneOf(nodeTypes),
    title: Type.String({ description: 'For people' }),
    symbol: Type.String({ description: 'Symbol of its nodes' }),
    always_running: Type.Boolean({ description: 'Is started when it is made, and stays so' }),
    console_type: nullable(
      oneOf(consoleTypes, { description: 'Console type of a node that is created without one; null: no console' }),
    ),
    console_types: Type.Array(oneOf(consoleTypes)),
    emulator: Type.Boolean({
      description: 'Runs in an emulator or a container engine; others are part of the data plane, or are only stored',
    }),
    images: Type.Boolean({ description: 'Is made of images that computes keep' }),
    engine_images: Type.Boolean({ description: 'Is made of images of an engine: computes list them and take no upload' }),
    image_properties: Type.Array(Type.String(), { description: 'Properties that name images which computes keep' }),
    templates: Type.Boolean({ description: 'Clients may create templates of this type' }),
    lab: Type.Object(
      {
        image: Type.Optional(Type.String({ description: 'The property that `image` of a lab file stands for' })),
        image_defaults: Type.Optional(
          Type.Record(Type.String(), Type.String(), {
            description: 'Other properties of a node that a lab file makes with an image, where it does not give them',
          }),
        ),
        memory: Type.Optional(Type.String({ description: 'The property, MiB, that `memory` stands for' })),
        cpus: Type.Optional(Type.String({ description: 'The property that `cpus` stands for' })),
        config_disk: Type.Optional(
          Type.Object(
            { property: Type.String(), folder: Type.String(), files: Type.Array(Type.String()) },
            {
              ...named('ConfigDiskInLabFiles'),
              description: 'Files of this folder of the node get onto a disk that the property attaches; `files`: usual names',
            },
          ),
        ),
        startup_file: Type.Optional(Type.String({ description: "The start-up configuration, in the node's folder" })),
        files: Type.Optional(
          Type.Array(Type.String(), {
            description: "Other files of a node's folder that an export has, if they are more than comments",
          }),
        ),
        port_list: Type.Optional(oneOf(['plain', 'vlan'], { description: 'Lab files can give `ports` of it' })),
        required: Type.Optional(Type.Array(Type.String(), { description: 'Properties without which no node is made' })),
        fixed: Type.Array(Type.String(), { description: 'Properties that are decided when the node is made' }),
        generated: Type.Array(Type.String(), {
          description: 'Properties that an export leaves out: the server chooses them, or a file has their content',
        }),
      },
      named('KindInLabFiles'),
    ),
    port_name_format: Type.String({ description: 'Default for a node that is created without a value' }),
    port_segment_size: Type.Integer({ description: 'Default for a node that is created without a value' }),
    can: Type.Object(
      {
        suspend: can('Suspend and resume'),
        reload: can('Reset while it runs'),
        duplicate: can('Copy a node with its files'),
        filter: can('Filters on its links; one end of a link must'),
        mirror: can('Be sent the frames of a link by a mirror'),
        reset_console: can('Cut all clients of the console'),
        resize_disk: can('Make disks larger'),
        convert: can('Make a machine of QEMU of it, with its disks, as it does not run here'),
        save_memory: can('Save the memory of a running node'),
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
