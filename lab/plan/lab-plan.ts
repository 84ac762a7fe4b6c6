/** Types of a plan: the steps that make a project match a lab file. */
import type { BulkNode } from '../../src/schema/bulk.ts';
import type { DrawingInput } from '../../src/schema/drawing.ts';
import type { LinkInput } from '../../src/schema/link.ts';
import type { NodeUpdate } from '../../src/schema/node.ts';
import type { ProjectUpdate } from '../../src/schema/project.ts';
import type { Place } from '../file/lab-error.ts';
import type { LabSchedule } from '../file/link-schedule.ts';
import type { MissingImage } from './missing-images.ts';

export type PlanAction = 'create' | 'update' | 'replace' | 'delete';

/** A field that differs; absent values are undefined. */
export interface Change {
  readonly field: string;
  /** Value in the project. */
  readonly from?: unknown;
  /** Value in the file. */
  readonly to?: unknown;
}

export interface ProjectStep {
  readonly name: string;
  /** Id of the project; undefined: it is created. */
  readonly id: string | undefined;
  readonly changes: readonly Change[];
  readonly body: ProjectUpdate;
}

export interface NodeStep {
  readonly action: PlanAction;
  readonly name: string;
  /** Id of the node; undefined for a new one. */
  readonly id?: string;
  readonly changes: readonly Change[];
  /** Whether the node runs and must be restarted. */
  readonly restart: boolean;
  /** Whether the node is locked: it is unlocked before it is deleted. */
  readonly locked?: boolean;
  /** Whether the node's links are recreated: its ports can only change without links. */
  readonly rewired?: boolean;
  readonly create?: BulkNode;
  readonly update?: NodeUpdate;
  /** Present for a new node of a template with a booted machine. */
  readonly warm?: WarmStart;
  /** Content by path in the node's folder. */
  readonly files: ReadonlyMap<string, string>;
}

/** Describes the start of a new node whose template has a booted machine. */
export interface WarmStart {
  /** Name of the template. */
  readonly template: string;
  /** Fields and properties that make it a different machine, so that it boots. Empty: it continues from the memory. */
  readonly differs: readonly string[];
}

export interface PortRef {
  readonly adapter: number;
  readonly port: number;
  readonly name: string;
}

export interface PlannedEnd {
  readonly node: string;
  /** Port; undefined until the node is created. */
  readonly port: PortRef | undefined;
  /** Name of the port in the file. */
  readonly wanted: string | undefined;
  readonly label?: Readonly<Record<string, unknown>>;
}

export interface LinkStep {
  readonly action: 'create' | 'update' | 'delete';
  readonly name: string;
  readonly id?: string;
  readonly changes: readonly Change[];
  /** Present for a new link. */
  readonly ends?: readonly [PlannedEnd, PlannedEnd];
  /** New port of the mirror; null: the mirror is removed; undefined: it stays. */
  readonly mirror?: PlannedEnd | null;
  readonly body?: LinkInput;
  /** New schedule; null: the schedule is removed; undefined: it stays. */
  readonly schedule?: LabSchedule | null;
  /** Place of the link in the file. */
  readonly place?: Place | undefined;
}

export interface DrawingStep {
  readonly action: 'create' | 'update' | 'delete';
  readonly name: string;
  readonly id?: string;
  readonly changes: readonly Change[];
  readonly locked?: boolean;
  readonly body?: DrawingInput;
}

export interface LabPlan {
  readonly project: ProjectStep;
  readonly nodes: readonly NodeStep[];
  readonly links: readonly LinkStep[];
  readonly drawings: readonly DrawingStep[];
  /** Images that computes lack. */
  readonly missing?: readonly MissingImage[];
  /** Sentences about files that containers may never see. */
  readonly unseen?: readonly string[];
}

/** A line of a plan, for users and programs. */
export interface PlanLine {
  readonly what: 'project' | 'node' | 'link' | 'drawing';
  readonly action: PlanAction;
  readonly name: string;
  /** Id of the object in the project; absent for a new one. */
  readonly id?: string;
  readonly changes: readonly Change[];
  /** Whether a running node is restarted. */
  readonly restart: boolean;
  readonly warm?: WarmStart;
  /** Images that the node names and its compute does not have. */
  readonly lacks?: readonly string[];
}

export function linesOf({ project, nodes, links, drawings, missing = [] }: LabPlan): PlanLine[] {
  const lacking = Map.groupBy(
    missing.flatMap(({ nodes: names, image }) => names.map((name) => ({ name, image }))),
    ({ name }) => name,
  );
  const own: PlanLine[] =
    project.id === undefined || project.changes.length > 0
      ? [
          {
            what: 'project',
            action: project.id === undefined ? 'create' : 'update',
            name: project.name,
            changes: project.changes,
            restart: false,
          },
        ]
      : [];
  return [
    ...own,
    ...nodes.map(({ action, name, id, changes, restart, warm }) => ({
      what: 'node' as const,
      action,
      name,
      ...(id !== undefined && { id }),
      changes,
      restart,
      ...(warm && { warm }),
      ...(lacking.has(name) && { lacks: lacking.get(name)?.map(({ image }) => image) ?? [] }),
    })),
    ...links.map((step) => simpleLine('link', step)),
    ...drawings.map((step) => simpleLine('drawing', step)),
  ];
}

function simpleLine(what: PlanLine['what'], { action, name, id, changes }: LinkStep | DrawingStep): PlanLine {
  return { what, action, name, ...(id !== undefined && { id }), changes, restart: false };
}

/** A line of the plan as drift: how the project differs from the file. */
export interface DriftLine {
  readonly what: PlanLine['what'];
  /** Whether the object is `missing` in the project, `extra` in it, or `changed`. */
  readonly drift: 'missing' | 'extra' | 'changed';
  readonly name: string;
  readonly changes: readonly { readonly field: string; readonly project?: unknown; readonly file?: unknown }[];
}

export function driftOf(plan: LabPlan): DriftLine[] {
  return linesOf(plan).map(({ what, action, name, changes }) => ({
    what,
    drift: action === 'create' ? 'missing' : action === 'delete' ? 'extra' : 'changed',
    name,
    changes: changes.map(({ field, from, to }) => ({ field, project: from, file: to })),
  }));
}
