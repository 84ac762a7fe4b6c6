/** Order of answers: a reading that was overtaken by a later one is not shown over it. */
import { useRef } from 'preact/hooks';

/** Returns a function that begins a reading; its result says whether no later one has begun. */
export function useReadings(): () => () => boolean {
  const begun = useRef(0);
  return () => {
    begun.current += 1;
    const own = begun.current;
    return () => own === begun.current;
  };
}
