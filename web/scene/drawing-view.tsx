/** A drawing on the canvas. */
import { useComputed } from '@preact/signals';
import type { Ink, Picture } from '../geometry/picture.ts';
import { useProject } from '../state/app.ts';
import { texts } from '../texts.ts';
import { isBlack } from './label.ts';

export function DrawingView({ id }: { readonly id: string }) {
  const { drawings, selection, pictures, groups, drawn } = useProject();
  const isHidden = useComputed(() => groups.hidden.value.has(id)).value;
  const selected = useComputed(() => selection.ids.value.has(id));
  const drawing = drawings.signalOf(id)?.value;
  if (!drawing || isHidden) return null;
  const picture = pictures.of(drawing.svg);
  if ('group' in picture && picture.group === 'collapsed') return <CollapsedView id={id} selected={selected.value} />;
  const { width, height } = picture;
  const turn = drawing.rotation ? ` rotate(${drawing.rotation})` : '';
  const { x, y } = drawn.dragged.placed(id, drawing);
  return (
    <g
      class={selected.value ? 'drawing selected' : 'drawing'}
      data-id={id}
      data-kind="drawing"
      transform={`translate(${x} ${y})${turn}`}
      {...nameOf(picture)}
    >
      {selected.value && <rect class="halo" x={-4} y={-4} width={width + 8} height={height + 8} rx={4} />}
      <PictureView picture={picture} />
      {'name' in picture && (
        <text class="group-name" x={4} y={-7}>
          {picture.name}
        </text>
      )}
    </g>
  );
}

/** Characters that a card has room for. */
const longestTitle = 16;

/** A collapsed group: its name, and how many nodes it hides. */
function CollapsedView({ id, selected }: { readonly id: string; readonly selected: boolean }) {
  const { groups, nodes } = useProject();
  void nodes.all.value;
  const group = groups.shown(id);
  if (!group) return null;
  const { name, nodeCount } = group;
  const box = groups.drawnBox(group);
  const count = texts.nodesInGroup(nodeCount);
  const middle = { x: box.width / 2, y: box.height / 2 + 5 };
  return (
    <g
      class={selected ? 'drawing collapsed-group selected' : 'drawing collapsed-group'}
      data-id={id}
      data-kind="drawing"
      transform={`translate(${box.x} ${box.y})`}
      {...imageNamed(name ? `${name}, ${count}` : count)}
    >
      {selected && <rect class="halo" x={-5} y={-5} width={box.width + 10} height={box.height + 10} rx={16} />}
      <rect class="under" x={6} y={6} width={box.width} height={box.height} rx={12} />
      <rect class="card" width={box.width} height={box.height} rx={12} />
      {name && (
        <text class="group-title" x={middle.x} y={middle.y - 9} text-anchor="middle">
          {name.length > longestTitle ? `${name.slice(0, longestTitle - 1)}…` : name}
        </text>
      )}
      <text x={middle.x} y={name ? middle.y + 11 : middle.y} text-anchor="middle">
        {count}
      </text>
    </g>
  );
}

/** A shape has no text of its own, and only an element with a role has a name. */
function nameOf(picture: Picture) {
  if (picture.shape === 'text') return imageNamed(picture.lines.map(({ text }) => text).join(' '));
  return imageNamed(('name' in picture && picture.name) || texts.shape[picture.shape]);
}

export const imageNamed = (name: string) => ({ role: 'img', 'aria-label': name }) as const;

function PictureView({ picture }: { readonly picture: Picture }) {
  const { width, height } = picture;
  switch (picture.shape) {
    case 'rectangle':
      return <rect width={width} height={height} rx={picture.radius} {...inkOf(picture.ink)} />;
    case 'ellipse':
      return <ellipse cx={width / 2} cy={height / 2} rx={width / 2} ry={height / 2} {...inkOf(picture.ink)} />;
    case 'line': {
      const [[x1, y1], [x2, y2]] = [picture.from, picture.to];
      return (
        <g>
          <line class="hit" {...{ x1, y1, x2, y2 }} />
          <line {...{ x1, y1, x2, y2 }} {...inkOf(picture.ink)} />
        </g>
      );
    }
    case 'text':
      return <TextView picture={picture} />;
    case 'picture':
      return <image href={picture.address} width={width} height={height} />;
  }
}

function TextView({ picture: { look, lines, ink } }: { readonly picture: Extract<Picture, { shape: 'text' }> }) {
  const style = {
    fontSize: `${look.sizePx}px`,
    ...(look.family && look.family !== 'TypeWriter' && { fontFamily: `${look.family}, var(--font)` }),
    ...(look.weight && { fontWeight: look.weight }),
    ...(look.italic && { fontStyle: 'italic' }),
    ...(look.underline && { textDecoration: 'underline' }),
    ...(!isBlack(ink.fill) && { fill: ink.fill }),
    ...(ink.opacity !== undefined && { fillOpacity: ink.opacity }),
  };
  return (
    <text class="label note" style={style}>
      {lines.map(({ text, y }) => (
        <tspan key={y} x={0} y={y}>
          {text || ' '}
        </tspan>
      ))}
    </text>
  );
}

/** Black lines follow the theme, as text does. */
function inkOf({ stroke, strokeWidth, dash, fill, opacity }: Ink) {
  return {
    stroke: isBlack(stroke) ? 'var(--ink)' : stroke,
    'stroke-width': strokeWidth ?? 2,
    fill: fill ?? 'none',
    ...(dash && dash !== 'none' && { 'stroke-dasharray': dash }),
    ...(opacity !== undefined && { 'fill-opacity': opacity }),
  };
}
