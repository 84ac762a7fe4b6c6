/** Plans a lab: a pure function of the file and the server's state. */
import { isDeepStrictEqual } from 'node:util';
import type { Drawing } from '../../src/schema/drawing.ts';
import type { Project } from '../../src/schema/project.ts';
import type { Lab, LabDrawing } from '../file/lab.ts';
import type { LabCatalog, LabProjectState } from '../state/lab-state.ts';
import type { Change, DrawingStep, LabPlan, ProjectStep } from './lab-plan.ts';
import { planLinks } from './plan-links.ts';
import { planNodes } from './plan-nodes.ts';

/** Plans a lab. `state`: undefined for a project that does not exist. @throws LabError */
export function planLab(lab: Lab, state: LabProjectState | undefined, catalog: LabCatalog): LabPlan {
  const nodes = planNodes(lab, state, catalog);
  return {
    project: planProject(lab, state?.project),
    nodes,
    links: planLinks(lab, state, nodes),
    drawings: planDrawings(lab.drawings, state?.drawings ?? []),
  };
}

function planProject(lab: Lab, project: Project | undefined): ProjectStep {
  const settings = Object.entries(lab.project);
  const changes = settings.flatMap(([field, to]): Change[] => {
    const from = project?.[field as keyof Project];
    return project && isDeepStrictEqual(plain(from), plain(to)) ? [] : [{ field, from, to }];
  });
  const body = Object.fromEntries(changes.map(({ field, to }) => [field, to]));
  return { name: project?.name ?? lab.name, id: project?.project_id, changes, body };
}

function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

const placement = ['x', 'y', 'z', 'rotation', 'locked'] as const;

/** Compares drawings. They have no names: a drawing with the same picture is the same one, wherever it is. */
function planDrawings(wanted: readonly LabDrawing[], present: readonly Drawing[]): DrawingStep[] {
  const bySvg = Map.groupBy(present, ({ svg }) => svg);
  const isAt = (drawing: Drawing, place: LabDrawing) => placement.every((field) => drawing[field] === place[field]);
  const steps: DrawingStep[] = [];
  const open: LabDrawing[] = [];
  for (const drawing of wanted) {
    const same = bySvg.get(drawing.svg) ?? [];
    const index = same.findIndex((one) => isAt(one, drawing));
    if (index === -1) open.push(drawing);
    else same.splice(index, 1);
  }
  for (const drawing of open) steps.push(drawingStep(drawing, bySvg.get(drawing.svg)?.shift()));
  const deleted = [...bySvg.values()].flat().map(
    (drawing): DrawingStep => ({
      action: 'delete',
      name: drawingName(drawing),
      id: drawing.drawing_id,
      locked: drawing.locked,
      changes: [],
    }),
  );
  return [...deleted, ...steps];
}

function drawingStep(drawing: LabDrawing, present: Drawing | undefined): DrawingStep {
  const name = drawingName(drawing);
  if (!present) return { action: 'create', name, changes: [], body: { ...drawing } };
  const fields = placement.filter((field) => present[field] !== drawing[field]);
  const changes = fields.map((field): Change => ({ field, from: present[field], to: drawing[field] }));
  return {
    action: 'update',
    name,
    id: present.drawing_id,
    changes,
    body: Object.fromEntries(fields.map((field) => [field, drawing[field]])),
  };
}

/** Names a drawing by its text, or its first shape, and its position. */
function drawingName({ svg, x, y }: Pick<Drawing, 'svg' | 'x' | 'y'>): string {
  const text = />([^<>]*\S[^<>]*)</.exec(svg)?.[1]?.trim().slice(0, 40);
  const shape = /<(rect|ellipse|line|image|path)/.exec(svg)?.[1] ?? 'drawing';
  return `${text ? `"${text}"` : shape} at ${x},${y}`;
}
