/**
 * Schema of the lab file. Fields of projects, nodes, links and drawings come from the API's own schemas; all others are short forms
 * for them. `/lab.schema.json` and the tables of `docs/lab-file.md` derive from this declaration.
 */

import { LongText, Name, named, nullable, oneOf, strict, Text } from '../../src/schema/common.ts';
import { DrawingInput } from '../../src/schema/drawing.ts';
import { linkDirections } from '../../src/schema/filter.ts';
import { LinkInput } from '../../src/schema/link.ts';
import { Label, NodeCreate, nodeTypes } from '../../src/schema/node.ts';
import { ProjectUpdate } from '../../src/schema/project.ts';
import { mostSteps, ScheduleTrace, traceFormats } from '../../src/schema/schedule.ts';
import { type Static, type TSchema, Type } from '../../src/schema/type.ts';
import { LabChecks, LabTest } from '../checks/definition/step-schema.ts';

const optional = <T extends TSchema>(schema: T) => Type.Optional(schema);
/** A field of the API, optional, with its own description. */
const described = <T extends TSchema>(schema: T, description: string): T => Type.Optional({ ...schema, description }) as T;

const { name: _name, path: _path, ...projectSettings } = ProjectUpdate.properties;
const ProjectSettings = Type.Object(projectSettings, named('LabProject'));

const { text: _text, ...labelFields } = Label.properties;
const LabLabel = Type.Object(labelFields, named('LabLabel'));

/** A text in the lab file, or a file beside it. */
const TextOrFile = Type.Union([
  Type.String({ maxLength: 1_048_576 }),
  Type.Object(
    {
      file: Name({ description: 'Path of a file, relative to the lab file that names it' }),
      vars: optional(Type.Boolean({ description: `Replace $\{…} in it too (default false)` })),
    },
    strict,
  ),
]);
export type TextOrFile = Static<typeof TextOrFile>;

const PortVlan = Type.Union([
  Type.Integer({ minimum: 1, maximum: 4094 }),
  Type.String({ pattern: '^(trunk|qinq)( [0-9]{1,4})?( 0x[0-9A-Fa-f]{4})?$' }),
]);

const { console, console_auto_start, console_type, custom_adapters, first_port_name, locked, symbol, template_id, x, y, z } =
  NodeCreate.properties;
const { port_name_format, port_segment_size } = NodeCreate.properties;

/** Fields of a node that are passed to the API unchanged. */
export const passedNodeFields = {
  console: described(console, 'TCP port of the console (default: a free one)'),
  console_auto_start: described(console_auto_start, 'Clients open the console when they open the project'),
  console_type: described(console_type, 'Type of the console'),
  custom_adapters: described(custom_adapters, 'Type, MAC address or port name of single adapters'),
  first_port_name: described(first_port_name, 'Name of the first port, outside the numbering'),
  locked: described(locked, 'The node cannot be moved or deleted in the page'),
  port_name_format: described(port_name_format, 'Names of ports, such as `Gi{segment0}/{port0}`'),
  port_segment_size: described(port_segment_size, 'Ports in a segment'),
  symbol: described(symbol, 'Symbol id'),
  template_id: described(template_id, 'Id of the template that the node is shown to come from'),
  x: described(x, 'Position, pixels (default: laid out automatically)'),
  y: described(y, 'Position, pixels'),
  z: described(z, 'Layer'),
};

const nodeFields = {
  kind: optional(oneOf(nodeTypes, { description: 'Type of the node' })),
  template: optional(
    Name({
      description: 'Name or id of a template of the server, in place of `kind`; nodes of a warm one continue from its memory',
    }),
  ),
  name: optional(Name({ description: 'Name of the node as it is, in place of the key: brackets in it have no meaning' })),
  count: optional(
    Type.Integer({ minimum: 1, maximum: 1000, description: 'So many nodes, with 1, 2, 3, … behind the name; as `NAME[1-count]`' }),
  ),
  compute: optional(Name({ description: 'Id or name of the compute; `auto`: the server chooses (default `local`)' })),
  image: optional(Text({ description: 'Container image, disk image or router image' })),
  memory: optional(
    Type.Union([Type.Integer({ minimum: 1 }), Type.String({ pattern: '^[0-9]+(\\.[0-9]+)? ?([MG]i?B?)$' })], {
      description: 'MiB, or with a unit: 512M, 2G',
    }),
  ),
  cpus: optional(Type.Integer({ minimum: 1, maximum: 255, description: 'Processors' })),
  adapters: optional(
    Type.Integer({ minimum: 0, maximum: 275, description: 'Network adapters (default: as many as the links need)' }),
  ),
  ports: optional(
    Type.Integer({ minimum: 1, maximum: 1024, description: 'Ports of a switch or hub (default: 8, or as many as needed)' }),
  ),
  vlans: optional(
    Type.Record(Type.String(), PortVlan, {
      description:
        'Ports of a switch: port name to VLAN, `trunk`, `trunk NATIVE` or `qinq VLAN`. Others are access ports of VLAN 1',
    }),
  ),
  properties: optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'Properties of the kind, as the API names them: `GET /v2/kinds/{node_type}/schemas`',
    }),
  ),
  config: optional({ ...TextOrFile, description: 'Start-up configuration: a text, or `{file: NAME}`' } as typeof TextOrFile),
  files: optional(
    Type.Record(Type.String(), TextOrFile, {
      description: "Files in the node's folder, by their path in it: for containers, files of their `extra_volumes`",
    }),
  ),
  label: optional(described(LabLabel, 'Position and style of the name')),
  ...passedNodeFields,
};
export const NodeSpec = Type.Object(nodeFields, named('LabNode'));
export type NodeSpec = Static<typeof NodeSpec>;

const { name: _n, count: _c, ...defaultFields } = nodeFields;
const Defaults = Type.Object(defaultFields, named('LabDefaults'));

const End = Type.Union([
  Name({ description: '`NODE` takes the first free port, `NODE:PORT` the port of that name or `ADAPTER/PORT`' }),
  Type.Object(
    {
      node: Name(),
      port: optional(Name()),
      label: optional(Type.Object({ ...labelFields, text: optional(Text()) }, named('LabEndLabel'))),
    },
    strict,
  ),
]);
export type End = Static<typeof End>;

const FilterValue = Type.Union([Type.Number(), Text(), Type.Array(Type.Union([Type.Number(), Text()]), { maxItems: 8 })]);
const FilterMap = Type.Record(Type.String(), FilterValue);
const Filters = Type.Record(Type.String(), Type.Union([FilterValue, FilterMap]), {
  description:
    'Impairments by name: a number, a text with units (`20ms`, `20ms 5ms`, `1%`, `10mbit`) or a list. `ab` and `ba` hold those for one direction',
});

const time = (description: string, minimum = 0) =>
  Type.Union([Type.Integer({ minimum }), Text({ maxLength: 20 })], {
    description: `${description}: ms, or with a unit, such as 10s`,
  });
const ScheduleSpec = Type.Object(
  {
    duration: optional(time('Length of a run. Without it the last step stays in effect', 1)),
    repeat: optional(
      Type.Union([Type.Integer({ minimum: 0, maximum: 1_000_000 }), oneOf(['forever'])], {
        description: 'Runs, which need a duration (default 1)',
      }),
    ),
    steps: optional(
      Type.Array(
        Type.Object(
          {
            at: time('When it begins'),
            filters: optional({
              ...Filters,
              description: 'In place of those of the link from then on; 0 is off',
            } as typeof Filters),
            ramp: optional(time('The numbers of `filters` change linearly over this time')),
            suspend: optional(Type.Boolean({ description: 'The link carries no frames from then on, or again' })),
            flap: optional(
              Type.Object(
                {
                  down: time('The link is down for this time, first', 1),
                  up: time('Then it is up for this time', 1),
                  count: optional(
                    Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'How often (default: until a later step)' }),
                  ),
                },
                strict,
              ),
            ),
          },
          strict,
        ),
        { maxItems: mostSteps, description: 'Changes of the link, each with its time' },
      ),
    ),
    traces: optional(
      Type.Array(
        Type.Object(
          {
            direction: optional(oneOf(linkDirections, { description: 'ab: from the first end to the second (default: both)' })),
            file: optional(Name({ description: 'A trace beside the lab file' })),
            format: optional(
              oneOf(traceFormats, { description: 'Format of the file (default: csv for .csv, .tsv and .txt, else mahimahi)' }),
            ),
            length: optional(time('After which it begins anew', 1)),
            samples: optional(ScheduleTrace.properties.samples),
          },
          strict,
        ),
        { maxItems: 3, description: 'Rate, delay and loss over time: `{file: lte.csv}`, or samples' },
      ),
    ),
  },
  named('LabSchedule'),
);
export type LabScheduleSpec = Static<typeof ScheduleSpec>;

const Ends = Type.Array(End, { minItems: 2, maxItems: 2, description: 'The two ends; `ab` is from the first to the second' });
const MirrorEnd = Type.Union([Name(), Type.Object({ node: Name(), port: optional(Name()) }, strict)]);
const LinkObject = Type.Object(
  {
    ends: Ends,
    filters: optional(Filters),
    suspend: optional(Type.Boolean({ description: 'The link carries no frames' })),
    mirror: optional({
      ...MirrorEnd,
      description: 'A port that is sent the frames as well: `NODE:PORT`, or `NODE` for the first free one',
    } as typeof MirrorEnd),
    schedule: optional(
      described(ScheduleSpec, 'Impairments over time, from when it is applied: `steps` and `traces`, with `duration` and `repeat`'),
    ),
    style: optional(described(LinkInput.properties.link_style, 'How the page draws it')),
  },
  named('LabLink'),
);
const LabLinkSpec = Type.Union([Ends, LinkObject]);
export type LabLinkSpec = Static<typeof LabLinkSpec>;

const { svg, rotation, locked: drawingLocked, x: dx, y: dy, z: dz } = DrawingInput.properties;
const size = (description: string) =>
  Type.Array(Type.Number({ minimum: 1, maximum: 100_000 }), { minItems: 2, maxItems: 2, description });
const color = (description: string) => Type.String({ pattern: '^(#[0-9A-Fa-f]{6}|none|[a-z]{1,20})$', description });
export const DrawingSpec = Type.Object(
  {
    svg: described(svg, 'The drawing itself, in place of `text`, `rectangle` and `ellipse`'),
    text: optional(LongText({ description: 'A text; may have several lines' })),
    rectangle: optional(size('Width and height')),
    ellipse: optional(size('Width and height')),
    color: optional(color('Color of the text or the border (default black)')),
    fill: optional(color('Fill color of a rectangle or ellipse (default white)')),
    font_size: optional(Type.Number({ minimum: 1, maximum: 500, description: 'Points (default 10)' })),
    x: described(dx, 'Position, pixels (default 0)'),
    y: described(dy, 'Position, pixels (default 0)'),
    z: described(dz, 'Layer (default 2; 0 of rectangles and ellipses: nodes are at 1)'),
    rotation: described(rotation, 'Degrees'),
    locked: described(drawingLocked, 'Prevents that the page moves or deletes the drawing'),
  },
  named('LabDrawing'),
);
export type DrawingSpec = Static<typeof DrawingSpec>;

const Scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean()]);

export const LabFile = Type.Object(
  {
    name: optional(Name({ description: 'Name of the project (default: the name of the file)' })),
    include: optional(
      Type.Array(Name(), { maxItems: 32, description: 'Lab files whose content is added; paths relative to this file' }),
    ),
    vars: optional(
      Type.Record(Type.String(), Scalar, {
        description: `Variables: \`$\{name}\` in a text stands for the value, \`$$\{\` for \`$\{\``,
      }),
    ),
    placement: optional(
      oneOf(['auto'], {
        description:
          'auto: nodes without `compute` are placed by the server, on computes that have room, so that few links leave a host',
      }),
    ),
    project: optional(described(ProjectSettings, 'Settings of the project, as in the API')),
    defaults: optional(described(Defaults, 'Fields of all nodes that do not give them')),
    nodes: optional(
      Type.Record(Type.String(), nullable(NodeSpec), { description: 'Nodes by name; `PC[1-3]` and `PC[1,4-6]` stand for several' }),
    ),
    links: optional(Type.Array(LabLinkSpec, { maxItems: 20_000, description: 'Links: `[R1:eth0, R2]`, or a map with filters' })),
    drawings: optional(Type.Array(DrawingSpec, { maxItems: 5000, description: 'Texts and shapes' })),
    checks: optional(LabChecks),
    test: optional(LabTest),
  },
  named('Lab'),
);
export type LabFile = Static<typeof LabFile>;
