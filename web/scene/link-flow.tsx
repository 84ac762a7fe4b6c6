/** What a link carries now: dots that run along it, the thicker and faster the more there is, on each side one way. */
import { useComputed } from '@preact/signals';
import { useProject } from '../state/app.ts';
import { texts } from '../texts.ts';
import type { LinkPath } from './link-path.ts';

/** Bits a second from which a link is drawn as one that carries more. */
const steps = [1, 1e4, 1e6, 1e8];
/** From the middle of the line. */
const asidePx = 3.5;

export function LinkFlow({ id, path: { d, aside } }: { readonly id: string; readonly path: LinkPath }) {
  const { traffic } = useProject();
  // As one text: a link is drawn anew only when another step is reached.
  const levels = useComputed(() => traffic.rateOf(id).value.map(levelOf).join(' ')).value.split(' ');
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
              transform={`translate(${aside.x * side} ${aside.y * side})`}
            />
          )
        );
      })}
    </>
  );
}

function levelOf(bits: number): number {
  return steps.filter((step) => bits >= step).length;
}

/** The tooltip, and what is read out. */
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
