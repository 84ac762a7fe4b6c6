/** A node on the canvas: symbol, label, status, and the current operation. */
import { useComputed } from '@preact/signals';
import type { Node } from '../../src/schema/node.ts';
import { problemIn } from '../../src/schema/problem-marks.ts';
import type { Box } from '../geometry/geometry.ts';
import { nameAbove, namePlace } from '../geometry/label-spots.ts';
import { textWidth } from '../geometry/text-width.ts';
import { useApp, useProject } from '../state/app.ts';
import type { OverlayMark } from '../state/overlay.ts';
import { texts } from '../texts.ts';
import { farGlyph, sceneSymbol, symbolBox, useFlatSymbols } from '../ui/device-symbol.tsx';
import { isDetailed, labelledBoxes } from './detail.ts';
import { labelLook } from './label.ts';
import { givenNamePlace, nameText } from './node-name.ts';
import { useFacts } from './use-facts.ts';

export function NodeView({ id }: { readonly id: string }) {
  const { server, viewport } = useApp();
  const { nodes, selection, work, groups, drawn } = useProject();
  const { isHidden, isSelected, isLabelSelected, busy, failure, mark, inDetail, glyph } = useFacts(() => {
    const node = nodes.find(id);
    const inDetail = isDetailed(viewport, () => (node ? labelledBoxes(node, node.label) : []));
    return {
      isHidden: groups.hidden.value.has(id),
      isSelected: selection.ids.value.has(id),
      isLabelSelected: selection.labelOf(id) !== undefined,
      busy: work.busy.value.get(id),
      failure: work.failures.value.get(id),
      mark: drawn.overlay.value?.nodes.value.get(id),
      inDetail,
      glyph: inDetail ? 'full' : viewport.detail.value === 'far' ? farGlyph(viewport.drawn.value.scale) : 'none',
    } as const;
  });
  const isFlat = useFlatSymbols();
  // A drag changes this attribute and renders nothing.
  const transform = useComputed(() => {
    const node = nodes.find(id);
    const { x, y } = node ? drawn.dragged.placed(id, node) : { x: 0, y: 0 };
    return `translate(${x} ${y})`;
  });
  const node = nodes.signalOf(id)?.value;
  if (!node || isHidden) return null;
  const { name, status, locked } = node;
  const problem = failure ?? problemIn(node.command_line);
  const box = symbolBox(node, isFlat);
  const label = [name, texts.status[status], busy, problem].filter(Boolean).join(', ');
  return (
    <g
      class={`node ${status}${isSelected ? ' selected' : ''}${busy ? ' busy' : ''}`}
      data-id={id}
      data-kind="node"
      transform={transform}
      aria-label={label}
    >
      {isSelected && <rect class="halo" x={box.x - 6} y={box.y - 6} width={box.width + 12} height={box.height + 12} rx={12} />}
      <rect class="plate" x={box.x - 4} y={box.y - 4} width={box.width + 8} height={box.height + 8} rx={8} />
      {sceneSymbol(isFlat ? { ...node, symbol: server.symbolOf(node) } : node, isFlat, glyph)}
      {statusMark({ node, box, failure: problem, isBusy: busy !== undefined, inDetail })}
      {locked && inDetail && (
        <path
          class="lock"
          d="M-1 6v-2a3 3 0 0 1 6 0v2h1v6h-8v-6z"
          transform={`translate(${box.x + box.width - 6} ${box.y + box.height - 8})`}
        />
      )}
      {inDetail && mark && <NodeTag mark={mark} symbol={box} />}
      {inDetail && <NodeLabel node={node} symbol={box} selected={isLabelSelected} />}
    </g>
  );
}

const tagPx = { height: 14, font: 9.5 } as const;

/** A mark of an overlay, on the lower edge of the symbol. */
function NodeTag({ mark: { text, look }, symbol }: { readonly mark: OverlayMark; readonly symbol: Box }) {
  const width = textWidth(text, tagPx.font) + 12;
  const [x, y] = [symbol.x + symbol.width / 2, symbol.y + symbol.height - 7];
  return (
    <g class={`tag look-${look}`}>
      <rect x={x - width / 2} y={y - tagPx.height / 2} width={width} height={tagPx.height} rx={tagPx.height / 2} />
      <text x={x} y={y + tagPx.font * 0.36} text-anchor="middle">
        {text}
      </text>
    </g>
  );
}

interface StatusMark {
  readonly node: Node;
  readonly box: Box;
  readonly failure: string | undefined;
  readonly isBusy: boolean;
  readonly inDetail: boolean;
}

/**
 * Elements of a node, which are no component, as there may be thousands. Each element with a transformation costs as much of a frame as
 * several without, so these have none.
 */
function statusMark({ node, box, failure, isBusy, inDetail }: StatusMark) {
  const [x, y] = [box.x + box.width - 4, box.y + 4];
  const mark = failure ? `M${x} ${y - 4.2}v5m0 2.8v0.4` : node.status === 'suspended' && `M${x - 1.4} ${y - 2}v4m2.8 -4v4`;
  return (
    <g class="status">
      {failure && <title>{failure}</title>}
      <circle class={failure ? 'dot failed' : `dot ${node.status}`} cx={x} cy={y} r={failure ? 8 : 5.5} />
      {inDetail && mark && <path class="mark" d={mark} />}
      {isBusy && <circle class="spinner" cx={x} cy={y} r={8} />}
    </g>
  );
}

interface NodeLabelProps {
  readonly node: Node;
  /** Box of the symbol, relative to the node. */
  readonly symbol: Box;
  readonly selected: boolean;
}

function NodeLabel({ node, symbol, selected }: NodeLabelProps) {
  const { drawn } = useProject();
  const spot = useComputed(() => drawn.placement.value.names.get(node.node_id)).value;
  const { x, y, anchor } = givenNamePlace(node) ?? namePlace(symbol, spot ?? nameAbove(symbol));
  const { style, sizePx } = labelLook(node.label.style);
  const turn = node.label.rotation ? { transform: `rotate(${node.label.rotation} ${x} ${y - sizePx})` } : {};
  return (
    <text class={selected ? 'label picked' : 'label'} data-label="name" x={x} y={y} text-anchor={anchor} style={style} {...turn}>
      {nameText(node)}
    </text>
  );
}
