/** Decides when nodes and links are drawn as a few paths, and loads the code for it: most labs are never so large. */
import { type Signal, signal } from '@preact/signals';
import type { App } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';

/** Number of nodes and links below which each has its own elements. */
const leastItems = 4_000;
/** Nodes are smaller than 15 pixels below this scale. */
const belowScale = 0.25;

type CrowdCode = typeof import('./crowd-view.tsx');

/** The code once it is loaded. After a failure all items have elements, which is slower. */
export const crowdCode: Signal<CrowdCode | 'failed' | undefined> = signal(undefined);

/** Whether the nodes and links are to be drawn as paths. Inside a signal it runs again when that may change. */
export function isCrowd({ viewport }: App, { nodes, links }: ProjectState): boolean {
  const isSmall = viewport.drawn.value.scale < belowScale && !viewport.complete.value;
  return isSmall && nodes.ids.value.length + links.ids.value.length >= leastItems && crowdCode.value !== 'failed';
}

export async function loadCrowd(): Promise<void> {
  if (typeof crowdCode.peek() === 'object') return;
  crowdCode.value = await import('./crowd-view.tsx').catch(() => 'failed' as const);
}
