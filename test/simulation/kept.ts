/** Schedules that have found defects, in short: they are played before every hunt. */
import type { Schedule } from './schedule.ts';

export interface Kept {
  /** The defect that the schedule showed. */
  readonly says: string;
  readonly schedule: Schedule;
}

export const kept: readonly Kept[] = [
  {
    says: 'two looks at one node do not end the pause after a failed start',
    schedule: {
      ...{ seed: 480, nodes: 2, remotes: 1 },
      steps: [
        { wait: 1, what: 'start', of: 0, lasts: 0 },
        { wait: 1, what: 'kill', of: 7, lasts: 1 },
        { wait: 1, what: 'refuse', of: 2, lasts: 93 },
        { wait: 1, what: 'compute_kill', of: 4, lasts: 15 },
      ],
    },
  },
  {
    says: 'a stop that does not reach a compute whose connection holds is tried again',
    schedule: {
      ...{ seed: 1880, nodes: 2, remotes: 1 },
      steps: [
        { wait: 56, what: 'start_all', of: 4, lasts: 0 },
        { wait: 117, what: 'cut', of: 4, lasts: 1674 },
        { wait: 1, what: 'stop_all', of: 3, lasts: 0 },
      ],
    },
  },
  {
    says: 'a node that is started while a client waits to move it is not moved, and that is no server error',
    schedule: {
      ...{ seed: 105, nodes: 2, remotes: 2 },
      steps: [
        { wait: 3, what: 'start_all', of: 2, lasts: 0 },
        { wait: 1, what: 'migrate', of: 4, lasts: 0 },
      ],
    },
  },
];
