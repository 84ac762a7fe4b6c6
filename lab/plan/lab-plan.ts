/** What has to happen so that a project is as a lab file says. */
import type { BulkNode } from '../../src/schema/bulk.ts';
import type { DrawingInput } from '../../src/schema/drawing.ts';
import type { LinkInput } from '../../src/schema/link.ts';
import type { NodeUpdate } from '../../src/schema/node.ts';
import type { ProjectUpdate } from '../../src/schema/project.ts';
import type { LabSchedule } from '../file/link-schedule.ts';

export type PlanAction = 'create' | 'update' | 'replace' | 'delete';

/** A field that differs; absent values are undefined. */
export interface Change {
  readonly field: string;
  /** In the project. */
  readonly from?: unknown;
  /** In the file. */
  readonly to?: unknown;
}

export interface ProjectStep {
  readonly name: string;
  /** Undefined: it is created. */
  readonly id: string | undefined;
  readonly changes: readonly Change[];
  readonly body: ProjectUpdate;
}

export interface NodeStep {
  readonly action: PlanAction;
  readonly name: string;
  /** Undefined of a new one. */
  readonly id?: string;
  readonly changes: readonly Change[];
  /** It runs, and has to be stopped and started. */
  readonly restart: boolean;
  /** It is stopped before it is deleted; a locked one is unlocked. */
  readonly locked?: boolean;
  /** Its ports can only change while it has no links: those are made anew. */
  readonly rewired?: boolean;
  readonly create?: BulkNode;
  readonly update?: NodeUpdate;
  /** Of a new one. */
  readonly warm?: WarmStart;
  /** Path in its folder to content. */
  readonly files: ReadonlyMap<string, string>;
}

/** A new node of a template that holds a booted machine. */
export interface WarmStart {
  /** Its name. */
  readonly template: string;
  /** What makes it another machine, so that it boots: fields and properties of the node. Empty: it continues from the memory. */
  readonly differs: readonly string[];
}

export interface PortRef {
  readonly adapter: number;
  readonly port: number;
  readonly name: string;
}

export interface PlannedEnd {
  readonly node: string;
  /** Undefined: it is known when the node is made. */
  readonly port: PortRef | undefined;
  /** As the file has it. */
  readonly wanted: string | undefined;
  readonly label?: Readonly<Record<string, unknown>>;
}

export interface LinkStep {
  readonly action: 'create' | 'update' | 'delete';
  readonly name: string;
  readonly id?: string;
  readonly changes: readonly Change[];
  /** Of a new one. */
  readonly ends?: readonly [PlannedEnd, PlannedEnd];
  /** Where its frames are sent as well from now on; null: nowhere any more. Undefined: as it is. */
  readonly mirror?: PlannedEnd | null;
  readonly body?: LinkInput;
  /** Null: it is removed; undefined: it stays as it is. */
  readonly schedule?: LabSchedule | null;
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
}

/** One line of a plan, for people and programs. */
export interface PlanLine {
  readonly what: 'project' | 'node' | 'link' | 'drawing';
  readonly action: PlanAction;
  readonly name: string;
  readonly changes: readonly Change[];
  /** A running node that is stopped and started. */
  readonly restart: boolean;
  readonly warm?: WarmStart;
}

export function linesOf({ project, nodes, links, drawings }: LabPlan): PlanLine[] {
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
    ...nodes.map(({ action, name, changes, restart, warm }) => ({
      what: 'node' as const,
      action,
      name,
      changes,
      restart,
      ...(warm && { warm }),
    })),
    ...links.map(({ action, name, changes }) => ({ what: 'link' as const, action, name, changes, restart: false })),
    ...drawings.map(({ action, name, changes }) => ({ what: 'drawing' as const, action, name, changes, restart: false })),
  ];
}

export function isEmptyPlan(plan: LabPlan): boolean {
  return linesOf(plan).length === 0;
}

/** The plan as drift: how the project differs from the file. */
export interface DriftLine {
  readonly what: PlanLine['what'];
  /** `missing` in the project, `extra` in it, or `changed`. */
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
