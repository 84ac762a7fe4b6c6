/** Loses every frame that matches one of the link's BPF programs. The text among the values was compiled by the server. */
import type { FilterMaker } from './filter.ts';

export const bpf: FilterMaker = (_values, { programs }) => ({
  pass(buffer, start, end) {
    for (const program of programs) {
      if (program(buffer, start, end) !== 0) return false;
    }
    return true;
  },
});
