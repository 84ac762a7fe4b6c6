/**
 * Nodes and links of a large lab at small scales, as a few paths: elements of their own for thousands would take seconds to make, and most of
 * each frame. Selected nodes are drawn as elsewhere.
 */
import { type ReadonlySignal, signal, useComputed, useSignalEffect } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Link } from '../../src/schema/link.ts';
import type { Node } from '../../src/schema/node.ts';
import { type Box, centreOf, nodeBox, type Point } from '../geometry/geometry.ts';
import { type App, useProject } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';
import { imageNamed } from './drawing-view.tsx';
import { linkStates } from './link-badge.tsx';
import { NodeView } from './node-view.tsx';

/** Shortest time between two drawings: the nodes of a lab start one by one. */
const everyMs = 200;
/** More selected nodes are one more path. */
const mostAlone = 100;
/** A node is at least as large under the pointer, in pixels of the screen. */
const leastHitPx = 8;

const nameOf = (nodes: number) => `${nodes} nodes, too small to be drawn one by one: zoom in`;

export function Crowd() {
  const project = useProject();
  const paths = useMemo(() => signal(pathsOf(project)), [project]);
  const waiting = useRef(0);
  useSignalEffect(() => {
    const { nodes, links, groups, work, drawn } = project;
    void [nodes.all.value, links.all.value, groups.hidden.value, work.failures.value, drawn.overlay.value?.links.value];
    waiting.current ||= window.setTimeout(() => {
      waiting.current = 0;
      paths.value = pathsOf(project);
    }, everyMs);
  });
  useEffect(() => () => clearTimeout(waiting.current), []);
  const { links, nodes } = paths.value;
  return (
    <g class="crowd" {...imageNamed(nameOf(project.nodes.ids.value.length))}>
      {Object.entries(links).map(([look, d]) => (
        <g key={look} class={`link ${look}`}>
          <path class="line" d={d} />
        </g>
      ))}
      {Object.entries(nodes).map(([look, d]) => (
        <path key={look} class={`dot ${look}`} d={d} />
      ))}
      <Selected project={project} />
    </g>
  );
}

/** The selected nodes, where they are dragged, and links. */
function Selected({ project }: { readonly project: ProjectState }) {
  const { selection, nodes, links, drawn, groups } = project;
  const ids = useComputed(() => [...selection.ids.value].filter((id) => nodes.peek(id) && !groups.hidden.value.has(id)));
  const d: ReadonlySignal<string> = useComputed(() => {
    if (ids.value.length <= mostAlone) return '';
    const placed = ids.value.flatMap((id) => {
      const node = nodes.find(id);
      return node ? [drawn.dragged.placed(id, node)] : [];
    });
    return placed.map((node) => squareOf(nodeBox(node))).join('');
  });
  const lines = useComputed(() => {
    // The ends of the lines may move.
    void nodes.all.value;
    return [...selection.ids.value].flatMap((id) => lineOf(project, links.find(id)) ?? []).join('');
  });
  return (
    <>
      {lines.value !== '' && (
        <g class="link selected">
          <path class="line" d={lines} />
        </g>
      )}
      {ids.value.length > mostAlone ? <path class="dot selected" d={d} /> : ids.value.map((id) => <NodeView key={id} id={id} />)}
    </>
  );
}

/** Paths by the classes of what they draw. */
interface CrowdPaths {
  readonly links: Readonly<Record<string, string>>;
  readonly nodes: Readonly<Record<string, string>>;
}

function pathsOf(project: ProjectState): CrowdPaths {
  const { nodes, links, groups, work, drawn } = project;
  const hidden = groups.hidden.peek();
  const failures = work.failures.peek();
  const marks = drawn.overlay.peek()?.links.peek();
  const paths: { readonly [kind in keyof CrowdPaths]: Record<string, string> } = { links: {}, nodes: {} };
  const add = (kind: keyof CrowdPaths, look: string, d: string) => {
    paths[kind][look] = (paths[kind][look] ?? '') + d;
  };
  for (const node of nodes.all.peek()) {
    if (hidden.has(node.node_id)) continue;
    add('nodes', failures.has(node.node_id) ? 'failed' : node.status, squareOf(nodeBox(node)));
  }
  for (const link of links.all.peek()) {
    const line = lineOf(project, link);
    const mark = marks?.get(link.link_id);
    const look = mark ? `look-${mark.look}` : linkStates(link).join(' ');
    if (line) add('links', look, line);
  }
  return paths;
}

/** Undefined: a node is missing. */
function lineOf({ nodes, groups }: ProjectState, link: Link | undefined): string | undefined {
  const [from, to] = (link?.nodes ?? []).map(({ node_id }) => {
    const node = nodes.peek(node_id);
    return node && centreOf(groups.hidden.peek().get(node_id)?.box ?? nodeBox(node));
  });
  return from && to && `M${whole(from.x)} ${whole(from.y)}L${whole(to.x)} ${whole(to.y)}`;
}

const whole = Math.round;
const squareOf = ({ x, y, width, height }: Box) => `M${whole(x)} ${whole(y)}h${whole(width)}v${whole(height)}h${-whole(width)}z`;

/** Finds the node under a point of the scene: the last one, as it is drawn above the others. */
export function nodeInCrowd({ viewport }: App, { nodes, groups }: ProjectState, at: Point): string | undefined {
  const least = leastHitPx / viewport.state.peek().scale;
  const hidden = groups.hidden.peek();
  const isHit = (node: Node) => {
    const { x, y, width, height } = nodeBox(node);
    const [beyondX, beyondY] = [Math.max(0, least - width) / 2, Math.max(0, least - height) / 2];
    return at.x >= x - beyondX && at.x <= x + width + beyondX && at.y >= y - beyondY && at.y <= y + height + beyondY;
  };
  return nodes.all.peek().findLast((node) => isHit(node) && !hidden.has(node.node_id))?.node_id;
}
