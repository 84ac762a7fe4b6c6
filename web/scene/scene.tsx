/** The canvas: one SVG whose content moves and scales as one group, so that scrolling renders nothing again. */
import { type ReadonlySignal, useComputed, useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Drawing } from '../../src/schema/drawing.ts';
import type { Project } from '../../src/schema/project.ts';
import { nodeBox, overlaps } from '../geometry/geometry.ts';
import { nearScale } from '../geometry/viewport.ts';
import { useApp, useProject } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';
import { texts } from '../texts.ts';
import { crowdCode, isCrowd, loadCrowd } from './crowd.ts';
import { CursorsOfOthers } from './cursors-of-others.tsx';
import { DrawingView } from './drawing-view.tsx';
import { FarNames } from './far-names.tsx';
import { Gestures } from './gestures.ts';
import { Handles } from './handles.tsx';
import { useArea, useFirstFit, useProjectInSight, useSelectionInSight } from './in-sight.ts';
import { LinkHandles } from './link-handles.tsx';
import { LinkView } from './link-view.tsx';
import { nameSizePx } from './name-size.ts';
import { NodeView } from './node-view.tsx';
import { Overlay } from './overlay.tsx';
import { RenameEditor } from './rename-editor.tsx';
import { SelectionsOfOthers } from './selections-of-others.tsx';
import { TextEditor } from './text-editor.tsx';
import { usePlacement } from './use-placement.ts';
import { WireHandle } from './wire-handle.tsx';

/** Each frame renders every moving dot; above this number of busy links the dots stand still. */
const mostMoving = 60;
export function Scene() {
  const app = useApp();
  const project = useProject();
  const svg = useRef<SVGSVGElement>(null);
  const content = useRef<SVGGElement>(null);
  useArea(svg);
  useFirstFit(project);
  useProjectInSight(project);
  useSelectionInSight(project);
  usePlacement(project);
  useEffect(() => {
    if (!svg.current) return undefined;
    const gestures = new Gestures(app, project, svg.current);
    return () => gestures.end();
  }, [app, project]);
  useSignalEffect(() => {
    const { x, y, scale } = app.viewport.drawn.value;
    content.current?.setAttribute('transform', `translate(${x} ${y}) scale(${scale})`);
  });
  useSignalEffect(() => {
    const shift = app.viewport.shift();
    // Meanwhile it is a layer of its own, which the browser moves without painting it.
    svg.current?.classList.toggle('gliding', shift !== undefined);
    svg.current?.style.setProperty('transform', shift ? `translate(${shift.x}px, ${shift.y}px) scale(${shift.scale})` : 'none');
  });
  useEffect(() => project.traffic.watch(), [project]);
  useSignalEffect(() => {
    svg.current?.classList.toggle('busy', project.traffic.busy.value > mostMoving);
  });
  // A change computes the styles of all elements anew. At small scales the names are hidden.
  const nameSize = useComputed(() => nameSizePx(Math.max(nearScale, app.viewport.drawn.value.scale)));
  useSignalEffect(() => svg.current?.style.setProperty('--name-size', `${nameSize.value}px`));
  useSignalEffect(() => {
    svg.current?.classList.toggle('far', app.viewport.detail.value === 'far');
  });
  const Ghosts = app.tools.ghosts.value;
  const overlay = project.drawn.overlay.value;
  return (
    <div
      class={`scene tool-${app.tools.tool.value.name}${project.project.value?.show_interface_labels ? '' : ' without-port-names'}${overlay ? ` overlaid overlay-${overlay.name}` : ''}`}
    >
      <svg ref={svg} class="canvas" role="application" aria-label={texts.canvas}>
        <Grid />
        <g ref={content}>
          <Items project={project} />
          {Ghosts && <Ghosts />}
          <CursorsOfOthers />
          <Overlay />
        </g>
      </svg>
      {overlay && <overlay.Legend />}
      <TextEditor />
      <RenameEditor />
    </div>
  );
}

/** The items, and what is drawn at them: a drag of all moves this group. */
function Items({ project }: { readonly project: ProjectState }) {
  const group = useRef<SVGGElement>(null);
  useSignalEffect(() => {
    const by = project.drawn.dragged.all.value;
    group.current?.classList.toggle('carried', by !== undefined);
    if (by) group.current?.setAttribute('transform', `translate(${by.x} ${by.y})`);
    else group.current?.removeAttribute('transform');
  });
  return (
    <g ref={group}>
      <Layers project={project} />
      <FarNames />
      <SelectionsOfOthers />
      <Handles />
      <LinkHandles />
      <WireHandle />
    </g>
  );
}

/** Draws the items, or nodes and links of a large lab from afar as paths. */
function Layers({ project }: { readonly project: ProjectState }) {
  const app = useApp();
  const isOfPaths = useComputed(() => isCrowd(app, project));
  useSignalEffect(() => {
    if (isOfPaths.value) void loadCrowd();
  });
  return isOfPaths.value ? <CrowdLayers project={project} /> : <ItemLayers project={project} />;
}

/** Nodes and links as paths, above the drawings. */
function CrowdLayers({ project }: { readonly project: ProjectState }) {
  const drawings = useOrder(() => byHeight(project.drawings.all.value.map(drawingOf)));
  const code = crowdCode.value;
  return (
    <>
      <ItemList ids={drawings} project={project} />
      {typeof code === 'object' && <code.Crowd />}
    </>
  );
}

/** Drawings below the links, the links, and items above them, each in order of z. A collapsed group is above its links, as a node is. */
function ItemLayers({ project }: { readonly project: ProjectState }) {
  const all = useComputed(() => ordered(project));
  const isBelow = ({ id, z, kind }: Placed) => kind === 'drawing' && z <= 0 && !project.groups.isCollapsed(id);
  const below = useOrder(() => all.value.filter(isBelow));
  const raised = useRaised(project);
  const above = useOrder(() =>
    raisedLast(
      all.value.filter((item) => !isBelow(item)),
      raised.value,
    ),
  );
  return (
    <>
      <ItemList ids={below} project={project} />
      <g class="links">
        {project.links.ids.value.map((id) => (
          <LinkView key={id} id={id} />
        ))}
      </g>
      <ItemList ids={above} project={project} />
    </>
  );
}

/** The node under the pointer, if another one may cover it. */
function useRaised({ nodes }: ProjectState): ReadonlySignal<string | undefined> {
  const { hovered } = useApp();
  return useComputed(() => {
    const node = nodes.peek(hovered.value ?? '');
    if (!node) return undefined;
    const box = nodeBox(node);
    return nodes.all.value.some((other) => other !== node && overlaps(nodeBox(other), box)) ? node.node_id : undefined;
  });
}

function raisedLast(items: Placed[], id: string | undefined): Placed[] {
  const raised = items.filter((item) => item.id === id);
  return raised.length === 0 ? items : [...items.filter((item) => item.id !== id), ...raised];
}

function ItemList({ ids, project }: { readonly ids: ReadonlySignal<string>; readonly project: ProjectState }) {
  const list = ids.value === '' ? [] : ids.value.split(' ');
  return <g>{list.map((id) => (project.nodes.peek(id) ? <NodeView key={id} id={id} /> : <DrawingView key={id} id={id} />))}</g>;
}

interface Placed {
  readonly id: string;
  readonly z: number;
  readonly kind: 'node' | 'drawing';
}

function ordered({ nodes, drawings }: ProjectState): Placed[] {
  const ofNodes = nodes.all.value.map(({ node_id: id, z }): Placed => ({ id, z, kind: 'node' }));
  return byHeight([...drawings.all.value.map(drawingOf), ...ofNodes]);
}

const drawingOf = ({ drawing_id: id, z }: Drawing): Placed => ({ id, z, kind: 'drawing' });
const byHeight = (placed: Placed[]) => placed.sort((one, other) => one.z - other.z);

/** Ids as one string: it changes only when the order changes, not whenever an object does. */
function useOrder(list: () => Placed[]): ReadonlySignal<string> {
  return useComputed(() =>
    list()
      .map(({ id }) => id)
      .join(' '),
  );
}

function Grid() {
  const { viewport } = useApp();
  const { project } = useProject();
  const settings: Project | undefined = project.value;
  const { x, y, scale } = viewport.drawn.value;
  const size = gridStep(settings?.grid_size ?? 75, scale);
  const isShown = settings?.show_grid && size > 0;
  // The background also takes the pointer beyond the edges while the canvas glides.
  return (
    <>
      <pattern id="grid" width={size} height={size} patternUnits="userSpaceOnUse" patternTransform={`translate(${x} ${y})`}>
        <circle class="grid-dot" cx={0.75} cy={0.75} r={1} />
      </pattern>
      <rect x="-50%" y="-50%" width="200%" height="200%" fill={isShown ? 'url(#grid)' : 'transparent'} />
    </>
  );
}

/** Pixels between dots: every grid line, or every fourth, sixteenth … when they would be too dense. */
function gridStep(gridPx: number, scale: number): number {
  if (gridPx <= 1) return 0;
  let step = gridPx * scale;
  while (step < 18) step *= 4;
  return step;
}
