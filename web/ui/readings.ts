/** Order of answers: a reading that began before one that is shown is not shown over it. */
import { useRef } from 'preact/hooks';

/**
 * Returns a function that begins a reading; its result says whether the answer is to be shown. An answer does not wait for a later
 * reading, so that who reads after a change has its effect.
 */
export function useReadings(): () => () => boolean {
  const begun = useRef(0);
  const shown = useRef(0);
  return () => {
    begun.current += 1;
    const own = begun.current;
    return () => {
      if (own < shown.current) return false;
      shown.current = own;
      return true;
    };
  };
}
