/** Joins the facts of one item, which come from signals of all items, to one signal: the item is rendered again when one of them changes. */
import { useComputed } from '@preact/signals';
import { useRef } from 'preact/hooks';

export function useFacts<Facts extends object>(read: () => Facts): Facts {
  const last = useRef<Facts | undefined>(undefined);
  return useComputed(() => {
    const [now, before] = [read(), last.current];
    const isSame = before && (Object.keys(now) as (keyof Facts)[]).every((key) => now[key] === before[key]);
    last.current = isSame ? before : now;
    return last.current;
  }).value;
}
