/** The plan of a lab file on the canvas: what it adds, changes and removes, before it is applied. */
import type { LabPlanReply } from '../../src/schema/lab.ts';
import type { Node } from '../../src/schema/node.ts';
import { type Box, centreOf, nodeBox, type Point } from '../geometry/geometry.ts';
import { useProject } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';
import { symbolBox, useFlatSymbols } from '../ui/device-symbol.tsx';
import { linkEnd, linkPath } from './link-path.ts';

/** Size of a new node, whose symbol is not known yet. Scene pixels. */
const newNodePx = 60;
const gapPx = 9;

type Step = LabPlanReply['steps'][number];
type Picture = LabPlanReply['picture'];

export function PlanGhosts({ plan: { steps, picture } }: { readonly plan: LabPlanReply }) {
  const project = useProject();
  const places = new Map(picture.nodes.map((node) => [node.name, node]));
  return (
    <g class="plan-ghosts">
      {picture.links
        .filter(({ action }) => action === 'create')
        .map(({ ends }, index) => (
          <NewLink key={`${index} ${ends.join(' ')}`} ends={ends} places={places} />
        ))}
      {steps.map((step) => {
        const place = places.get(step.name.replaceAll(' ', ''));
        return <Ghost key={`${step.what} ${step.action} ${step.name}`} step={step} place={place} project={project} />;
      })}
    </g>
  );
}

interface GhostProps {
  readonly step: Step;
  /** Place of a node in the lab as it will be. */
  readonly place: Point | undefined;
  readonly project: ProjectState;
}

function Ghost({ step, place, project }: GhostProps) {
  const { what, action, name, id = '' } = step;
  const facts = { class: `ghost ${action}`, 'data-ghost': `${action} ${what} ${name}` };
  const isFlat = useFlatSymbols();
  const node = project.nodes.find(id);
  if (what === 'node' && action === 'create')
    return place ? (
      <g {...facts}>
        <Frame box={{ ...place, width: newNodePx, height: newNodePx }} gap={-4} />
        <text x={place.x + newNodePx / 2} y={place.y + newNodePx / 2} text-anchor="middle" dominant-baseline="central">
          {name}
        </text>
      </g>
    ) : null;
  if (node) {
    const box = boxOf(node, isFlat);
    const isMoved = place && (place.x !== node.x || place.y !== node.y) && action !== 'delete';
    const target = isMoved ? { ...box, x: box.x + place.x - node.x, y: box.y + place.y - node.y } : undefined;
    const [from, to] = [centreOf(box), target && centreOf(target)];
    return (
      <g {...facts}>
        <Frame box={box} gap={gapPx} />
        {action === 'delete' && <path d={crossOf(box)} />}
        {target && <Frame box={target} gap={0} />}
        {to && <path d={`M${from.x} ${from.y}L${to.x} ${to.y}`} />}
      </g>
    );
  }
  if (what === 'link') return <path {...facts} d={pathOf(project, id)} />;
  const drawing = project.findItem(id);
  return drawing ? (
    <g {...facts}>
      <Frame box={project.boxOf(drawing)} gap={gapPx} />
    </g>
  ) : null;
}

function Frame({ box: { x, y, width, height }, gap }: { readonly box: Box; readonly gap: number }) {
  return <rect x={x - gap} y={y - gap} width={width + 2 * gap} height={height + 2 * gap} rx={12} />;
}

/** The drawn symbol. */
function boxOf(node: Node, isFlat: boolean): Box {
  const { x, y, width, height } = symbolBox(node, isFlat);
  return { x: node.x + x, y: node.y + y, width, height };
}

const crossOf = ({ x, y, width, height }: Box) => `M${x} ${y}L${x + width} ${y + height}M${x + width} ${y}L${x} ${y + height}`;

/** The path of a link of the project; empty for a new one, which the picture draws. */
function pathOf({ nodes, links, drawn, groups }: ProjectState, id: string): string {
  const [one, other] = (links.find(id)?.nodes ?? []).map(({ node_id }) => nodes.find(node_id));
  if (!one || !other) return '';
  const endOf = (node: typeof one) => linkEnd(node, nodeBox(node), groups.hidden.value.get(node.node_id));
  return linkPath([endOf(one), endOf(other)], drawn.bulges.value.get(id)).d;
}

interface NewLinkProps {
  readonly ends: readonly string[];
  readonly places: ReadonlyMap<string, Picture['nodes'][number]>;
}

function NewLink({ ends, places }: NewLinkProps) {
  const [from, to] = ends.map((name) => places.get(name));
  if (!from || !to) return null;
  const [a, b] = [from, to].map(({ x, y }) => centreOf({ x, y, width: newNodePx, height: newNodePx }));
  return a && b ? (
    <path class="ghost create" data-ghost={`create link ${ends.join(' ')}`} d={`M${a.x} ${a.y}L${b.x} ${b.y}`} />
  ) : null;
}
