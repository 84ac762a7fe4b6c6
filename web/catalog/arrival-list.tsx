/** Images that are being received, with their progress. */
import type { ComponentChildren } from 'preact';
import { Button } from '../ui/button.tsx';
import { Progress, sizeText } from '../ui/progress.tsx';
import { catalogTexts } from './catalog-texts.ts';
import type { Arrival, ImageIntake } from './image-intake.ts';

interface ArrivalListProps {
  readonly intake: ImageIntake;
  /** Names of images whose arrivals are shown elsewhere. */
  readonly shown?: readonly string[];
  /** Renders the offers for an image that no appliance knows. */
  readonly unknown?: (arrival: Arrival) => ComponentChildren;
}

export function ArrivalList({ intake, shown = [], unknown }: ArrivalListProps) {
  const list = intake.arrivals.value.filter(({ target }) => target === undefined || !shown.includes(target));
  if (list.length === 0) return null;
  return (
    <ul class="plain-list arrivals" aria-live="polite">
      {list.map((arrival) => (
        <li key={arrival.id}>
          <span>
            <strong>{arrival.name}</strong>
            {arrival.size !== undefined && <small>{sizeText(arrival.size)}</small>}
          </span>
          <ArrivalState arrival={arrival} />
          {arrival.phase === 'unknown' && unknown?.(arrival)}
          <CancelArrival arrival={arrival} intake={intake} />
        </li>
      ))}
    </ul>
  );
}

interface OneArrival {
  readonly arrival: Arrival;
  readonly intake: ImageIntake;
}

export const CancelArrival = ({ arrival: { id, name }, intake }: OneArrival) => (
  <Button icon="close" kind="quiet" label={catalogTexts.intake.cancel(name)} onClick={() => intake.remove(id)} />
);

export function ArrivalState({ arrival: { phase, part, message, md5sum } }: { readonly arrival: Arrival }) {
  if (phase === 'reading' || phase === 'sending' || phase === 'fetching')
    return <Progress label={catalogTexts.intake[phase]} part={part} />;
  if (phase === 'failed')
    return (
      <span class="failure" role="alert">
        {message}
      </span>
    );
  return <small>{phase === 'unknown' ? catalogTexts.wizard.unknown(md5sum) : message}</small>;
}
