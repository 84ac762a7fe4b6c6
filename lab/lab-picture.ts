/** Draws a plan: positions of nodes, links, and the action for each. */
import type { Lab } from './file/lab.ts';
import { layOut } from './layout.ts';
import type { LabPlan, PlanAction } from './plan/lab-plan.ts';
import type { LabProjectState } from './state/lab-state.ts';

export interface LabPicture {
  readonly nodes: readonly { readonly name: string; readonly x: number; readonly y: number; readonly action: PlanAction | null }[];
  readonly links: readonly { readonly ends: readonly [string, string]; readonly action: PlanAction | null }[];
}

export function pictureOf(lab: Lab, plan: LabPlan, state: LabProjectState | undefined): LabPicture {
  const present = new Map((state?.nodes ?? []).map((node) => [node.name.replaceAll(' ', ''), node]));
  const places = layOut(lab, state?.nodes ?? []);
  const actions = new Map(plan.nodes.map(({ name, action }) => [name.replaceAll(' ', ''), action]));
  const own = lab.nodes.map(({ name, fields }) => {
    const { x = 0, y = 0 } = { ...places.get(name), ...present.get(name), ...fields } as { x?: number; y?: number };
    return { name, x, y, action: actions.get(name) ?? null };
  });
  const deleted = [...present.values()].flatMap(({ name, x, y }) =>
    actions.get(name.replaceAll(' ', '')) === 'delete' ? [{ name, x, y, action: 'delete' as const }] : [],
  );
  const fresh = new Set(plan.links.filter(({ action }) => action === 'create').map(({ name }) => withoutPorts(name)));
  const links = lab.links.map(({ ends: [one, other] }) => {
    const ends = [one.node, other.node] as const;
    return { ends, action: fresh.has(ends.join(' ')) ? ('create' as const) : null };
  });
  return { nodes: [...own, ...deleted], links };
}

/** Removes the ports from a link's name: `R1:eth0 - R2:eth0` becomes `R1 R2`. */
function withoutPorts(name: string): string {
  return name
    .split(' - ')
    .map((end) => end.slice(0, end.lastIndexOf(':')))
    .join(' ');
}
