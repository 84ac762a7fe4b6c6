/** A node on the canvas: symbol, label, status, and the current operation. */
import { useComputed } from '@preact/signals';
import type { Node } from '../../src/schema/node.ts';
import { useProject } from '../state/app.ts';
import { texts } from '../texts.ts';
import { labelLook } from './label.ts';

export const symbolAddress = (symbol: string) => `/v2/symbols/${symbol.split('/').map(encodeURIComponent).join('/')}/raw`;

export function NodeView({ id }: { readonly id: string }) {
  const { nodes, selection, work } = useProject();
  const selected = useComputed(() => selection.ids.value.has(id));
  const labelSelected = useComputed(() => selection.labelOf(id) !== undefined);
  const busy = useComputed(() => work.busy.value.get(id));
  const failure = useComputed(() => work.failures.value.get(id));
  const node = nodes.signalOf(id)?.value;
  if (!node) return null;
  const { x, y, width, height, name, status, locked } = node;
  const label = [name, texts.status[status], busy.value, failure.value].filter(Boolean).join(', ');
  return (
    <g
      class={`node ${status}${selected.value ? ' selected' : ''}${busy.value ? ' busy' : ''}`}
      data-id={id}
      data-kind="node"
      transform={`translate(${x} ${y})`}
      aria-label={label}
    >
      {selected.value && <rect class="halo" x={-6} y={-6} width={width + 12} height={height + 12} rx={8} />}
      <rect class="plate" x={-4} y={-4} width={width + 8} height={height + 8} rx={8} />
      <image href={symbolAddress(node.symbol)} width={width} height={height} />
      <Status node={node} failure={failure.value} />
      {locked && <path class="lock" d="M-1 6v-2a3 3 0 0 1 6 0v2h1v6h-8v-6z" transform={`translate(${width - 6} ${height - 8})`} />}
      <NodeLabel node={node} selected={labelSelected.value} />
    </g>
  );
}

function Status({ node, failure }: { readonly node: Node; readonly failure: string | undefined }) {
  return (
    <g class="status" transform={`translate(${node.width - 2} 2)`}>
      {failure && <title>{failure}</title>}
      <circle class={failure ? 'dot failed' : `dot ${node.status}`} r={failure ? 8 : 5.5} />
      {failure ? (
        <path class="mark" d="M0 -4.2V0.8M0 3.6V4" />
      ) : (
        node.status === 'suspended' && <path class="mark" d="M-1.4 -2V2M1.4 -2V2" />
      )}
      <circle class="spinner" r={8} />
    </g>
  );
}

/** Default positions of labels. */
const aboveSymbolPx = -25;

function NodeLabel({ node: { label, width, name }, selected }: { readonly node: Node; readonly selected: boolean }) {
  const { style, sizePx } = labelLook(label.style);
  const isCentred = label.x === null || label.x === undefined;
  const x = isCentred ? width / 2 : (label.x ?? 0);
  const y = label.y ?? aboveSymbolPx;
  const turn = label.rotation ? { transform: `rotate(${label.rotation} ${x} ${y})` } : {};
  return (
    <text
      class={selected ? 'label picked' : 'label'}
      data-label="name"
      x={x}
      y={y + sizePx}
      text-anchor={isCentred ? 'middle' : 'start'}
      style={style}
      {...turn}
    >
      {(label.text || name).replace(/<br\s*\/?>/g, ' ')}
    </text>
  );
}
