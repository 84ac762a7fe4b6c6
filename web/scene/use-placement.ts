/**
 * Keeps the bends of links and the places of labels up to date: they stay while something is dragged, and are chosen anew when it is let
 * go. Labels are placed while some are drawn: at small scales there are none.
 */
import { useComputed, useSignalEffect } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { detours } from '../geometry/detours.ts';
import { type Placement, placeLabels } from '../geometry/label-places.ts';
import { nearScale } from '../geometry/viewport.ts';
import { useApp } from '../state/app.ts';
import { keepEqual } from '../state/overlay.ts';
import type { ProjectState } from '../state/project.ts';
import { detourScene, labelScene } from './label-scene.ts';
import { nameSizePx } from './name-size.ts';

export function usePlacement(project: ProjectState): void {
  const { viewport, tools, symbolSet } = useApp();
  const last = useRef({ labels: '', lines: '' });
  const hasLabels = useComputed(() => viewport.detailed.value !== undefined);
  const namePx = useComputed(() => nameSizePx(viewport.complete.value ? 1 : Math.max(nearScale, viewport.drawn.value.scale)));
  useSignalEffect(() => {
    if (tools.pressing.value) return;
    const { nodes, links, groups, drawn } = project;
    const lines = detourScene({
      nodes: nodes.all.value,
      links: links.all.value,
      hidden: groups.hidden.value,
      bundles: drawn.bundles.value,
      isFlat: symbolSet.value === 'flat',
    });
    const now = JSON.stringify([...lines.nodes, lines.links]);
    if (now === last.current.lines) return;
    last.current.lines = now;
    const found = detours(lines.nodes, lines.links);
    if (found.size > 0 || drawn.detours.peek().size > 0) drawn.detours.value = found;
  });
  useSignalEffect(() => {
    // Spots are relative to what they name: a drag moves labels without a new choice.
    if (tools.pressing.value || !hasLabels.value) return;
    const { nodes, links, drawings, groups, pictures, drawn } = project;
    const scene = labelScene({
      nodes: nodes.all.value,
      links: links.all.value,
      drawings: drawings.all.value.map(({ drawing_id: id, x, y, rotation, svg }) => ({
        id,
        x,
        y,
        rotation,
        picture: pictures.of(svg),
      })),
      bulges: drawn.bulges.value,
      marks: drawn.overlay.value?.links.value,
      hidden: groups.hidden.value,
      isFlat: symbolSet.value === 'flat',
      namePx: namePx.value,
      hasPortNames: project.project.value?.show_interface_labels ?? false,
    });
    const now = JSON.stringify(scene);
    if (now === last.current.labels) return;
    last.current.labels = now;
    drawn.placement.value = withKept(placeLabels(scene), drawn.placement.peek());
  });
}

/** Spots that did not change stay the same objects, so that only moved labels are rendered. */
function withKept(now: Placement, before: Placement): Placement {
  return { names: keepEqual(now.names, before.names), links: keepEqual(now.links, before.links) };
}
