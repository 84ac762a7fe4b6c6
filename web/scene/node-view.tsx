/** A node on the canvas: symbol, label, status, and the current operation. */
import { useComputed } from '@preact/signals';
import type { Node } from '../../src/schema/node.ts';
import type { Box } from '../geometry/geometry.ts';
import { useApp, useProject } from '../state/app.ts';
import { texts } from '../texts.ts';
import { SceneSymbol, symbolBox, useFlatSymbols } from '../ui/device-symbol.tsx';
import { labelLook } from './label.ts';
import { standardTop } from './labels.ts';

export function NodeView({ id }: { readonly id: string }) {
  const { server } = useApp();
  const { nodes, selection, work } = useProject();
  const selected = useComputed(() => selection.ids.value.has(id));
  const labelSelected = useComputed(() => selection.labelOf(id) !== undefined);
  const busy = useComputed(() => work.busy.value.get(id));
  const failure = useComputed(() => work.failures.value.get(id));
  const isFlat = useFlatSymbols();
  const node = nodes.signalOf(id)?.value;
  if (!node) return null;
  const { x, y, name, status, locked } = node;
  const box = symbolBox(node, isFlat);
  const label = [name, texts.status[status], busy.value, failure.value].filter(Boolean).join(', ');
  return (
    <g
      class={`node ${status}${selected.value ? ' selected' : ''}${busy.value ? ' busy' : ''}`}
      data-id={id}
      data-kind="node"
      transform={`translate(${x} ${y})`}
      aria-label={label}
    >
      {selected.value && <rect class="halo" x={box.x - 6} y={box.y - 6} width={box.width + 12} height={box.height + 12} rx={12} />}
      <rect class="plate" x={box.x - 4} y={box.y - 4} width={box.width + 8} height={box.height + 8} rx={8} />
      <SceneSymbol node={isFlat ? { ...node, symbol: server.symbolOf(node) } : node} />
      <Status node={node} box={box} failure={failure.value} />
      {locked && (
        <path
          class="lock"
          d="M-1 6v-2a3 3 0 0 1 6 0v2h1v6h-8v-6z"
          transform={`translate(${box.x + box.width - 6} ${box.y + box.height - 8})`}
        />
      )}
      <NodeLabel node={node} top={box.y} selected={labelSelected.value} />
    </g>
  );
}

interface StatusProps {
  readonly node: Node;
  readonly box: Box;
  readonly failure: string | undefined;
}

function Status({ node, box, failure }: StatusProps) {
  return (
    <g class="status" transform={`translate(${box.x + box.width - 4} ${box.y + 4})`}>
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

interface NodeLabelProps {
  readonly node: Node;
  /** Of the symbol, relative to the node. */
  readonly top: number;
  readonly selected: boolean;
}

function NodeLabel({ node, top, selected }: NodeLabelProps) {
  const { label, width, name } = node;
  const { style, sizePx } = labelLook(label.style);
  const isCentred = label.x === null || label.x === undefined;
  const x = isCentred ? width / 2 : (label.x ?? 0);
  // In its default place it stands above the drawn symbol, whose size may differ from that of the node.
  const isDefault = isCentred && (label.y ?? standardTop(node)) === standardTop(node);
  const y = isDefault ? top + aboveSymbolPx : (label.y ?? aboveSymbolPx);
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
