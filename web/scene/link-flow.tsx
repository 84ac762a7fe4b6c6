/** Live traffic of a link: dots that run along it, larger and faster with the rate, one side per direction. */
import { type ReadonlySignal, useComputed } from '@preact/signals';
import { useProject } from '../state/app.ts';
import { texts } from '../texts.ts';
import type { DrawnLink } from './drawn-link.ts';

/** Rates in bit/s from which a link shows the next level. */
const steps = [1, 1e4, 1e6, 1e8];
/** Distance from the middle of the line. */
const asidePx = 3.5;

export interface LineProps {
  readonly id: string;
  readonly line: ReadonlySignal<DrawnLink | undefined>;
}

export function LinkFlow({ id, line }: LineProps) {
  const { traffic } = useProject();
  // The levels are joined to a string, so that the link is rendered again only when a level changes.
  const levels = useComputed(() => traffic.rateOf(id).value.map(levelOf).join(' ')).value.split(' ');
  // An idle link does not ask for its line, which a drag changes.
  if (levels.every((level) => level === '0') || !line.value) return null;
  const { d, aside } = line.value.path;
  return (
    <>
      {(['ab', 'ba'] as const).map((way, place) => {
        const level = levels[place];
        const side = place === 0 ? asidePx : -asidePx;
        return (
          level !== '0' && (
            <path
              key={way}
              class={`flow ${way} level-${level}`}
              d={d}
              onAnimationStart={({ currentTarget }) => alignSteps(currentTarget)}
              transform={`translate(${aside.x * side} ${aside.y * side})`}
            />
          )
        );
      })}
    </>
  );
}

/** Aligns the steps of all links, whenever their animations started: fewer frames are painted. */
function alignSteps(flow: Element): void {
  for (const animation of flow.getAnimations()) animation.startTime = 0;
}

function levelOf(bits: number): number {
  return steps.filter((step) => bits >= step).length;
}

/** The tooltip, also for screen readers. */
export function LinkTitle({
  id,
  title,
  names,
}: {
  readonly id: string;
  readonly title: string;
  readonly names: readonly [string, string];
}) {
  const [there, back] = useProject().traffic.rateOf(id).value;
  const rates = [there > 0 && texts.carries(names[0], names[1], there), back > 0 && texts.carries(names[1], names[0], back)];
  return <title>{[title, ...rates.filter(Boolean)].join(', ')}</title>;
}
