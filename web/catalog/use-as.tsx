/** An image that its appliance does not know: the user may say which file it is. */
import { useSignal } from '@preact/signals';
import { Button } from '../ui/button.tsx';
import { catalogTexts } from './catalog-texts.ts';
import type { Arrival } from './image-intake.ts';

interface UseAsProps {
  readonly arrival: Arrival;
  readonly names: readonly string[];
  readonly use: (filename: string) => void;
}

export function UseAs({ arrival, names, use }: UseAsProps) {
  const chosen = useSignal('');
  const name = names.includes(chosen.value) ? chosen.value : (names[0] ?? '');
  if (name === '') return null;
  return (
    <>
      <select
        aria-label={catalogTexts.wizard.useAs(arrival.name)}
        value={name}
        onChange={({ currentTarget }) => (chosen.value = currentTarget.value)}
      >
        {names.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
      <Button onClick={() => use(name)}>{catalogTexts.wizard.use}</Button>
    </>
  );
}
