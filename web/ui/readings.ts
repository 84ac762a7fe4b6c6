/** Order of answers: the answer to a request is not shown over that to a later one. */
import { useRef } from 'preact/hooks';

/**
 * Returns a function that is called before a request. Its result is called with the answer, and runs `show` unless the answer to a later
 * request is shown already. A later request that is not answered yet is not waited for: a change shows with the first request after it.
 */
export function useReadings(): () => (show: () => void) => void {
  const begun = useRef(0);
  const shown = useRef(0);
  return () => {
    begun.current += 1;
    const own = begun.current;
    return (show) => {
      if (own < shown.current) return;
      shown.current = own;
      show();
    };
  };
}
