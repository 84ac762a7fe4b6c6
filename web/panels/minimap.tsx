/**
 * The whole project at a glance, in large projects: its nodes and links on one canvas, and the visible part as a frame. A click or
 * a drag moves the view. Panning moves the frame only; the canvas is drawn again when nodes or links change.
 */
import { useComputed, useSignalEffect } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { around, type Box, centreOf, nodeBox } from '../geometry/geometry.ts';
import { useApp, useProject } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';

const widthPx = 176;
const heightPx = 116;
const marginPx = 8;
/** The minimap is hidden for smaller projects, which are seen whole anyway. */
const leastNodes = 20;
/** Shortest time between two redraws: changes of other users may come one by one. */
const everyMs = 200;

export function Minimap() {
  const { minimap } = useApp();
  const { nodes } = useProject();
  const isWanted = useComputed(() => minimap.value && nodes.ids.value.length >= leastNodes).value;
  return isWanted ? <MapOfNodes /> : null;
}

function MapOfNodes() {
  const { viewport, theme } = useApp();
  const project = useProject();
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const waiting = useRef(0);
  const extent = useComputed(() => around(project.nodes.all.value.map(nodeBox)));
  useSignalEffect(() => {
    void [extent.value, project.links.all.value, theme.value];
    waiting.current ||= window.setTimeout(() => {
      waiting.current = 0;
      const box = extent.peek();
      if (canvas.current && box) draw(canvas.current, project, box);
    }, everyMs);
  });
  useSignalEffect(() => {
    const box = extent.value;
    const seen = viewport.box();
    if (!frame.current || !box) return;
    const { scale, left, top } = fitted(box);
    const { style } = frame.current;
    style.transform = `translate(${seen.x * scale + left}px, ${seen.y * scale + top}px)`;
    style.width = `${seen.width * scale}px`;
    style.height = `${seen.height * scale}px`;
  });
  const go = ({ currentTarget, clientX, clientY, buttons }: PointerEvent) => {
    const box = extent.peek();
    if (buttons !== 1 || !box || !(currentTarget instanceof Element)) return;
    const area = currentTarget.getBoundingClientRect();
    const { scale, left, top } = fitted(box);
    viewport.centreOn({ x: (clientX - area.left - left) / scale, y: (clientY - area.top - top) / scale });
  };
  return (
    <div
      class="minimap"
      aria-hidden="true"
      style={{ width: `${widthPx}px`, height: `${heightPx}px` }}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        go(event);
      }}
      onPointerMove={go}
    >
      <canvas ref={canvas} width={widthPx} height={heightPx} />
      <div ref={frame} class="minimap-frame" />
    </div>
  );
}

/** `map = scene * scale + (left, top)`. */
function fitted(box: Box) {
  const room = (size: number) => size - 2 * marginPx;
  const scale = Math.min(room(widthPx) / Math.max(1, box.width), room(heightPx) / Math.max(1, box.height));
  const { x, y } = centreOf(box);
  return { scale, left: widthPx / 2 - x * scale, top: heightPx / 2 - y * scale };
}

function draw(canvas: HTMLCanvasElement, { nodes, links }: ProjectState, box: Box): void {
  const context = canvas.getContext('2d');
  if (!context) return;
  const sharp = devicePixelRatio;
  [canvas.width, canvas.height] = [widthPx * sharp, heightPx * sharp];
  const { scale, left, top } = fitted(box);
  context.setTransform(sharp, 0, 0, sharp, 0, 0);
  const colours = getComputedStyle(canvas);
  const at = (id: string | undefined) => {
    const node = nodes.peek(id ?? '');
    const { x, y } = node ? centreOf(nodeBox(node)) : { x: 0, y: 0 };
    return [x * scale + left, y * scale + top] as const;
  };
  context.strokeStyle = colours.getPropertyValue('--wire');
  context.lineWidth = 0.75;
  context.beginPath();
  for (const { nodes: ends } of links.all.peek()) {
    context.moveTo(...at(ends[0]?.node_id));
    context.lineTo(...at(ends[1]?.node_id));
  }
  context.stroke();
  const side = Math.max(2, Math.min(6, 48 * scale));
  const [running, stopped] = [colours.getPropertyValue('--good'), colours.getPropertyValue('--wire')];
  for (const { node_id, status } of nodes.all.peek()) {
    const [x, y] = at(node_id);
    context.fillStyle = status === 'started' ? running : stopped;
    context.fillRect(x - side / 2, y - side / 2, side, side);
  }
}
