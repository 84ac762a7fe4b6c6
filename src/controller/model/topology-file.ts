/**
 * Reads a project file from bytes to a checked topology. Everything here holds its thread as long as the bytes are
 * many, so large files are read in a thread of their own (`topology-thread.ts`). A file that cannot be understood is left as it is.
 */
import { fault } from '../../api/faults.ts';
import { lenient } from '../../api/lenient-body.ts';
import { problemsOf } from '../../api/validate.ts';
import { isDeeper } from '../../lib/json-depth.ts';
import { asStored, isUuid, Name, nullable, oneOf, strict } from '../../schema/common.ts';
import { DrawingInput } from '../../schema/drawing.ts';
import { LinkInput } from '../../schema/link.ts';
import { NodeCreate } from '../../schema/node.ts';
import { projectDefaults } from '../../schema/project.ts';
import { type Static, Type } from '../../schema/type.ts';
import { canonical } from './canonical.ts';
import { fromGns3, gns3Revision } from './gns3-revision.ts';
import { noConsoleOf } from './no-console.ts';
import { projectFromFile } from './project-file.ts';
import { storedProjectFields } from './stored.ts';
import type { ProjectEntry } from './topology.ts';
import { upgradeFrom1x } from './upgrades/from-1x.ts';
import { object, objects, textOr } from './upgrades/raw.ts';
import { oldestRevision, upgrade } from './upgrades/topology-upgrades.ts';

/** Files of GNS3 have ten at most. What walks a value uses the stack. */
export const mostLevels = 100;

const TopologyFile = asStored(
  Type.Object(
    {
      ...storedProjectFields,
      revision: Type.Integer(),
      type: Type.Literal('topology'),
      version: Type.String(),
      topology: Type.Object(
        {
          nodes: Type.Array(NodeCreate),
          links: Type.Array(LinkInput),
          drawings: Type.Array(DrawingInput),
          computes: Type.Array(
            Type.Object(
              {
                compute_id: Name(),
                host: Type.String(),
                name: Type.String(),
                port: Type.Integer(),
                protocol: oneOf(['http', 'https']),
                user: Type.Optional(nullable(Type.String())),
              },
              strict,
            ),
          ),
        },
        strict,
      ),
    },
    strict,
  ),
);
export type TopologyFile = Static<typeof TopologyFile>;

interface CheckedFile {
  readonly file: TopologyFile;
  readonly revision: number;
}

/** `name` is what people know the file by. @throws `project_damaged`, `project_newer` */
export async function checkFile(bytes: Buffer, name: string): Promise<CheckedFile> {
  const { raw, revision } = parseFile(bytes, name);
  const present = revision === gns3Revision ? fromGns3(raw, TopologyFile) : upgrade(raw, Math.max(revision, oldestRevision));
  const file = lenient(TopologyFile, tolerate(present));
  const reason = await problemsOf(TopologyFile, file);
  if (reason !== undefined) throw fault('project_damaged', { name, reason });
  return { file: file as TopologyFile, revision };
}

/**
 * Reads the listed fields of a project without checking its content, which is checked when it is opened. Fields of a wrong type
 * count as absent. @throws as `checkFile`
 */
export function listedEntry(bytes: Buffer, name: string): ProjectEntry {
  const { raw } = parseFile(bytes, name);
  const { name: own, project_id, ...fields } = projectFromFile(raw);
  if (typeof project_id !== 'string' || !isUuid(project_id) || typeof own !== 'string' || own === '') {
    throw fault('project_damaged', { name, reason: 'it has no name or no id' });
  }
  const settings = Object.entries(projectDefaults).map(([key, standard]) => {
    const value = fields[key];
    return [key, standard === null ? (value ?? null) : typeof value === typeof standard ? value : standard];
  });
  return canonical({ ...Object.fromEntries(settings), name: own, project_id }) as ProjectEntry;
}

/** Parts of a file of 1.x that concern the files beside it, and its reader. */
export interface OldFileFacts {
  /** Paths of the pictures that it names. */
  readonly pictures: readonly string[];
  /** Parts that have no counterpart now. */
  readonly lost: readonly string[];
}

/** Most lost parts that are listed. */
const mostLost = 1000;

export function oldFileFacts(bytes: Buffer): OldFileFacts {
  const file = object(JSON.parse(bytes.toString('utf8')));
  const pictures = objects(object(file.topology).images).map(({ path }) => textOr(path, ''));
  const { lost } = upgradeFrom1x(file);
  const more = lost.length > mostLost ? [`${lost.length - mostLost} more`] : [];
  return { pictures, lost: [...lost.slice(0, mostLost), ...more] };
}

/** An object of the present structure, of the oldest revision that has it or a later one. `revision`: that of the file. */
function parseFile(bytes: Buffer, name: string): { raw: Record<string, unknown>; revision: number } {
  let raw: unknown;
  try {
    if (isDeeper(bytes, mostLevels)) throw new Error(`it is nested deeper than ${mostLevels} levels`);
    raw = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw fault('project_damaged', { name, reason: (error as Error).message }, { cause: error });
  }
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
    throw fault('project_damaged', { name, reason: 'it is not an object' });
  const revision = (raw as { revision?: unknown }).revision ?? 0;
  if (typeof revision !== 'number' || !Number.isInteger(revision) || revision < 0)
    throw fault('project_damaged', { name, reason: 'its revision is not a valid number' });
  if (revision > gns3Revision) throw fault('project_newer', { name, revision, known: gns3Revision });
  if (revision >= oldestRevision) return { raw: raw as Record<string, unknown>, revision };
  try {
    return { raw: upgradeFrom1x(raw as Record<string, unknown>).raw, revision };
  } catch (error) {
    throw fault('project_damaged', { name, reason: (error as Error).message }, { cause: error });
  }
}

/** Deviations of existing files that GNS3 accepts. */
function tolerate(raw: Record<string, unknown>): unknown {
  const { topology, variables } = raw as { topology?: { nodes?: unknown }; variables?: unknown };
  const changed: Record<string, unknown> = { ...raw };
  if (Array.isArray(variables)) changed.variables = variables.filter((variable) => variable?.name);
  if (topology && Array.isArray(topology.nodes)) changed.topology = { ...topology, nodes: topology.nodes.map(tolerateNode) };
  return changed;
}

function tolerateNode(node: unknown): unknown {
  if (typeof node !== 'object' || node === null) return node;
  const { appliance_id, ...rest } = node as Record<string, unknown>;
  if (appliance_id !== undefined && rest.template_id === undefined) rest.template_id = appliance_id;
  if (rest.console_type === null) rest.console_type = noConsoleOf(rest.node_type);
  return rest;
}
