/** Lab files over HTTP. Not part of GNS3's API. */
import { Name, named, nullable, oneOf } from './common.ts';
import { type Static, Type } from './type.ts';

const source = {
  lab: Type.Union([Type.String(), Type.Record(Type.String(), Type.Unknown())], {
    description: 'The lab file: its text, YAML or JSON, or the object itself',
  }),
  files: Type.Optional(
    Type.Record(Type.String(), Type.String(), { description: 'Files that it names: path to text. No other files are read' }),
  ),
  vars: Type.Optional(Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]))),
  file: Type.Optional(Name({ description: 'Name of the file for messages' })),
};
const request = {
  ...source,
  project: Type.Optional(Name({ description: 'Name or id of an existing project, in place of the name in the file' })),
};
export const LabRequest = Type.Object(request, named('LabRequest'));
export const LabApply = Type.Object(
  {
    ...request,
    start: Type.Optional(Type.Boolean({ description: 'Start all nodes afterwards' })),
    strict: Type.Optional(Type.Boolean({ description: 'Refuse nodes whose image or program their compute does not have' })),
  },
  named('LabApply'),
);
export type LabRequest = Static<typeof LabRequest>;
export const LabChecks = Type.Object(source, named('LabChecks'));

const action = oneOf(['create', 'update', 'replace', 'delete']);
export const LabPlanReply = Type.Object(
  {
    name: Type.String({ description: 'Name of the project' }),
    project_id: nullable(Type.String({ description: 'null: it is created' })),
    steps: Type.Array(
      Type.Object(
        {
          what: oneOf(['project', 'node', 'link', 'drawing']),
          action,
          name: Type.String(),
          id: Type.Optional(Type.String({ description: 'Id of the object in the project' })),
          lacks: Type.Optional(Type.Array(Type.String({ description: 'Image that the compute of the node lacks' }))),
          restart: Type.Boolean({ description: 'A running node that is stopped and started' }),
          warm: Type.Optional(
            Type.Object(
              {
                template: Type.String({ description: 'Name of the template that holds a booted machine' }),
                differs: Type.Array(Type.String(), {
                  description:
                    'Fields and properties that make the node a different machine, so that it boots. Empty: it continues from the memory',
                }),
              },
              named('LabWarmStart'),
            ),
          ),
          changes: Type.Array(
            Type.Object(
              {
                field: Type.String(),
                from: Type.Optional(Type.Unknown({ description: 'In the project' })),
                to: Type.Optional(Type.Unknown({ description: 'In the file' })),
              },
              named('LabChange'),
            ),
          ),
        },
        named('LabStep'),
      ),
    ),
    missing: Type.Array(
      Type.Object(
        {
          image: Type.String({ description: 'File name, or name of a container image' }),
          kind: Type.String(),
          compute: Type.String(),
          nodes: Type.Array(Type.String()),
          size: Type.Optional(Type.Integer({ description: 'Bytes, as an appliance says' })),
          md5: Type.Optional(Type.String({ description: 'As an appliance says' })),
          url: Type.Optional(Type.String({ description: 'Address to download it from, as an appliance says' })),
        },
        named('LabMissingImage'),
      ),
      { description: 'Images that computes lack: nodes are made without them, and need them at their start' },
    ),
    unseen: Type.Array(Type.String({ description: 'A file of the lab that its container does not see, or may not see, and why' })),
    picture: Type.Object(
      {
        nodes: Type.Array(
          Type.Object(
            { name: Type.String(), x: Type.Number(), y: Type.Number(), action: nullable(action) },
            named('LabPictureNode'),
          ),
        ),
        links: Type.Array(Type.Object({ ends: Type.Array(Type.String()), action: nullable(action) }, named('LabPictureLink'))),
      },
      named('LabPicture'),
    ),
    lines: Type.Array(
      Type.Object(
        {
          what: oneOf(['node', 'link']),
          name: Type.String(),
          id: nullable(Type.String({ description: 'null: it is created' })),
          line: Type.Integer({ description: 'First line, from 1' }),
          end: Type.Integer({ description: 'Last line' }),
        },
        named('LabItemLines'),
      ),
      { description: 'Lines of the file that describe each node and link. Those of a range share theirs' },
    ),
  },
  named('LabPlan'),
);
export type LabPlanReply = Static<typeof LabPlanReply>;

/** A line in the answer of `POST /v2/labs/apply`. */
export interface LabApplyLine {
  readonly step?: string;
  readonly done?: number;
  readonly total?: number;
  readonly project_id?: string;
  readonly failure?: string;
}

/** A line in the answer of `POST /v2/projects/{project_id}/checks`. */
export interface LabCheckLine {
  /** Names of all steps, in their order: the first line. */
  readonly checks?: readonly string[];
  readonly check?: {
    readonly name: string;
    readonly outcome: 'passed' | 'failed' | 'error' | 'skipped';
    readonly problems: readonly string[];
    readonly duration_ms: number;
  };
  /** The last line, or `failure`. */
  readonly verdict?: 'passed' | 'failed' | 'void';
  /** Why the verdict is void. */
  readonly reasons?: readonly string[];
  readonly failure?: string;
}
