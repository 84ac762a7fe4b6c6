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
  {
    says: 'a node whose deletion was not answered, and was carried out, is made and started again',
    schedule: {
      ...{ seed: 201174, nodes: 2, remotes: 1 },
      steps: [
        { wait: 1, what: 'start', of: 7, lasts: 1 },
        { wait: 1190, what: 'open', of: 3, lasts: 1437 },
        { wait: 1, what: 'delete', of: 3, lasts: 1 },
        { wait: 1, what: 'reset', of: 0, lasts: 1 },
      ],
    },
  },
  {
    says: 'a compute that did not get the close of a project closes it later',
    schedule: {
      ...{ seed: 55, nodes: 2, remotes: 2 },
      steps: [
        { wait: 1, what: 'cut', of: 2, lasts: 37 },
        { wait: 1, what: 'close', of: 5, lasts: 1 },
        { wait: 0, what: 'other_start', of: 1, lasts: 1 },
      ],
    },
  },
  {
    says: 'a node that another program started is not wanted after its stop, however late the compute reports the start',
    schedule: {
      ...{ seed: 3213, nodes: 4, remotes: 1 },
      steps: [
        { wait: 1, what: 'start', of: 4, lasts: 1 },
        { wait: 77, what: 'guest_off', of: 0, lasts: 683 },
        { wait: 898, what: 'other_start', of: 7, lasts: 23240 },
        { wait: 40, what: 'stop_all', of: 1, lasts: 1 },
      ],
    },
  },
  {
    says: 'what a migration has left behind is removed by the next server',
    schedule: {
      ...{ seed: 4343, nodes: 2, remotes: 2 },
      steps: [
        { wait: 2, what: 'freeze', of: 5, lasts: 54930 },
        { wait: 50, what: 'refuse', of: 0, lasts: 103228 },
        { wait: 1, what: 'freeze', of: 5, lasts: 1 },
        { wait: 2059, what: 'other_start', of: 0, lasts: 866 },
        { wait: 1, what: 'migrate', of: 6, lasts: 1 },
        { wait: 12, what: 'restart', of: 6, lasts: 81770 },
        { wait: 14, what: 'freeze', of: 4, lasts: 94316 },
        { wait: 1, what: 'other_start', of: 4, lasts: 1 },
      ],
    },
  },
  {
    says: 'a machine that starts after its compute missed the close is ended',
    schedule: {
      ...{ seed: 4452, nodes: 3, remotes: 2 },
      steps: [
        { wait: 1, what: 'slow_boot', of: 7, lasts: 82 },
        { wait: 1, what: 'start', of: 7, lasts: 1 },
        { wait: 1, what: 'close', of: 2, lasts: 1 },
        { wait: 15, what: 'reset', of: 6, lasts: 55298 },
        { wait: 1, what: 'reset', of: 1, lasts: 1 },
      ],
    },
  },
  {
    says: 'a node that its guest switched off as it was started again stays wanted',
    schedule: {
      ...{ seed: 535, nodes: 1, remotes: 0, slices: 1 },
      steps: [
        { wait: 2081, what: 'guest_off', of: 6, lasts: 141817 },
        { wait: 1, what: 'restart', of: 3, lasts: 1 },
        { wait: 1084, what: 'refuse', of: 2, lasts: 81593 },
        { wait: 1694, what: 'start', of: 2, lasts: 326 },
        { wait: 2, what: 'suspend', of: 0, lasts: 1178 },
        { wait: 63311, what: 'stop', of: 2, lasts: 359 },
        { wait: 599, what: 'migrate', of: 0, lasts: 79688 },
        { wait: 63210, what: 'compute_freeze', of: 4, lasts: 1373 },
        { wait: 81084, what: 'refuse', of: 4, lasts: 740 },
        { wait: 63512, what: 'restart', of: 4, lasts: 66155 },
        { wait: 2849, what: 'auto_start', of: 4, lasts: 28824 },
        { wait: 2261, what: 'create', of: 7, lasts: 63881 },
        { wait: 58048, what: 'start', of: 7, lasts: 895 },
        { wait: 37, what: 'start', of: 4, lasts: 145113 },
        { wait: 239, what: 'start', of: 2, lasts: 89793 },
        { wait: 3, what: 'delete', of: 6, lasts: 1108 },
        { wait: 28, what: 'guest_off', of: 3, lasts: 122795 },
        { wait: 7, what: 'start', of: 5, lasts: 11752 },
      ],
    },
  },
  {
    says: 'a compute whose host is booted again while a project is opened has its nodes started again',
    schedule: {
      ...{ seed: 1527, nodes: 4, remotes: 2 },
      steps: [
        { wait: 1, what: 'refuse', of: 7, lasts: 36296 },
        { wait: 15726, what: 'start_all', of: 7, lasts: 139666 },
        { wait: 59472, what: 'start', of: 5, lasts: 1104 },
        { wait: 2, what: 'restart', of: 7, lasts: 311 },
        { wait: 11, what: 'stop', of: 7, lasts: 425 },
        { wait: 1, what: 'start', of: 3, lasts: 1 },
        { wait: 1147, what: 'rename', of: 1, lasts: 1237 },
        { wait: 1795, what: 'restart', of: 1, lasts: 126781 },
        { wait: 194, what: 'compute_reboot', of: 3, lasts: 28459 },
      ],
    },
  },
  {
    says: 'nodes of a project whose opening was cut off do not stay on the compute of the controller',
    schedule: {
      ...{ seed: 147, nodes: 3, remotes: 1, slices: 2 },
      steps: [
        { wait: 17, what: 'close', of: 1, lasts: 1320 },
        { wait: 6, what: 'open', of: 5, lasts: 1146 },
        { wait: 26, what: 'power_cut', of: 7, lasts: 229 },
      ],
    },
  },
  {
    says: 'a node whose creation was cut off does not stay on its compute',
    schedule: {
      ...{ seed: 410, nodes: 4, remotes: 1, slices: 2 },
      steps: [
        { wait: 80862, what: 'stop', of: 6, lasts: 1419 },
        { wait: 27, what: 'create', of: 3, lasts: 45450 },
        { wait: 5, what: 'restart', of: 4, lasts: 12736 },
      ],
    },
  },
  {
    says: 'a move that was recorded leaves nothing on the compute of the controller, also when the other compute was away at the start',
    schedule: {
      ...{ seed: 51124, nodes: 1, remotes: 1 },
      steps: [
        { wait: 6, what: 'cut', of: 6, lasts: 614 },
        { wait: 25, what: 'refuse', of: 7, lasts: 103708 },
        { wait: 21, what: 'stop', of: 7, lasts: 79805 },
        { wait: 13, what: 'start', of: 0, lasts: 243 },
        { wait: 10, what: 'migrate', of: 5, lasts: 12925 },
        { wait: 1, what: 'restart', of: 4, lasts: 1 },
      ],
    },
  },
  {
    says: 'a stop that was answered while its slice was away holds although the slice is drained',
    schedule: {
      ...{ seed: 52078, nodes: 2, remotes: 0, slices: 1 },
      steps: [
        { wait: 12639, what: 'start', of: 7, lasts: 32597 },
        { wait: 39, what: 'compute_kill', of: 6, lasts: 1115 },
        { wait: 0, what: 'power_cut', of: 3, lasts: 1 },
        { wait: 4, what: 'drain', of: 0, lasts: 401 },
        { wait: 1, what: 'stop', of: 1, lasts: 1 },
      ],
    },
  },
  {
    says: 'a move that failed as its compute could not be asked is tried again soon',
    schedule: {
      ...{ seed: 30231, nodes: 4, remotes: 0, slices: 2 },
      steps: [
        { wait: 1, what: 'start', of: 1, lasts: 1 },
        { wait: 108, what: 'drain', of: 1, lasts: 548 },
        { wait: 2, what: 'reset', of: 5, lasts: 35 },
      ],
    },
  },
  {
    says: 'a creation that arrives after its controller was restarted leaves nothing on its compute',
    schedule: {
      ...{ seed: 811207, nodes: 2, remotes: 2, slices: 2 },
      steps: [
        { wait: 1, what: 'start', of: 2, lasts: 1 },
        { wait: 1, what: 'start', of: 3, lasts: 1 },
        { wait: 22, what: 'slow_boot', of: 2, lasts: 94066 },
        { wait: 11, what: 'create', of: 6, lasts: 107198 },
        { wait: 5, what: 'stop', of: 6, lasts: 668 },
        { wait: 1, what: 'restart', of: 7, lasts: 1 },
        { wait: 15, what: 'stop', of: 4, lasts: 1837 },
      ],
    },
  },
  {
    says: 'a node that was moved while its slice could not be asked is removed from it',
    schedule: {
      ...{ seed: 820726, nodes: 3, remotes: 0, slices: 2 },
      steps: [
        { wait: 61, what: 'compute_reboot', of: 3, lasts: 262 },
        { wait: 1, what: 'create', of: 4, lasts: 1 },
        { wait: 1, what: 'refuse', of: 3, lasts: 1 },
        { wait: 1, what: 'auto_start', of: 6, lasts: 1 },
        { wait: 74943, what: 'stop', of: 2, lasts: 851 },
        { wait: 338, what: 'slow_boot', of: 3, lasts: 1735 },
        { wait: 1, what: 'drain', of: 5, lasts: 1 },
        { wait: 17, what: 'stop', of: 7, lasts: 121761 },
        { wait: 26, what: 'cut', of: 1, lasts: 1241 },
      ],
    },
  },
  {
    says: 'a slice that has not joined again starts nothing',
    schedule: {
      ...{ seed: 811128, nodes: 4, remotes: 0, slices: 1 },
      steps: [
        { wait: 1, what: 'compute_reboot', of: 1, lasts: 1 },
        { wait: 1, what: 'start', of: 7, lasts: 1 },
      ],
    },
  },
  {
    says: 'a node that could not be made when its project was opened is made and started, although the connection held',
    schedule: {
      ...{ seed: 1002069, nodes: 4, remotes: 1 },
      steps: [
        { wait: 1, what: 'close', of: 6, lasts: 1 },
        { wait: 43899, what: 'guest_crash', of: 7, lasts: 78452 },
        { wait: 1, what: 'auto_start', of: 4, lasts: 1 },
        { wait: 1, what: 'open', of: 4, lasts: 1 },
        { wait: 1, what: 'cut', of: 4, lasts: 23 },
      ],
    },
  },
  {
    says: 'a slice whose server was killed while it was to end, and started again, does not count as ending',
    schedule: {
      ...{ seed: 1008387, nodes: 3, remotes: 0, slices: 1 },
      steps: [
        { wait: 15, what: 'migrate', of: 6, lasts: 753 },
        { wait: 28, what: 'restart', of: 6, lasts: 1966 },
        { wait: 29, what: 'other_start', of: 1, lasts: 142647 },
        { wait: 21, what: 'stop', of: 0, lasts: 1034 },
        { wait: 16, what: 'start', of: 3, lasts: 665 },
        { wait: 3, what: 'slice_end', of: 4, lasts: 111900 },
        { wait: 33, what: 'compute_kill', of: 3, lasts: 1801 },
      ],
    },
  },
  {
    says: 'a machine that was sent to another compute when its host was booted is lost, and starts again',
    schedule: {
      ...{ seed: 8223, nodes: 1, remotes: 1, slices: 2 },
      steps: [
        { wait: 0, events: 4, what: 'guest_off', of: 1, lasts: 795 },
        { wait: 0, events: 55, what: 'power_cut', of: 7, lasts: 630 },
        { wait: 1688, what: 'start', of: 7, lasts: 534 },
        { wait: 77144, what: 'migrate', of: 0, lasts: 59710 },
        { wait: 0, events: 49, what: 'power_cut', of: 6, lasts: 1159 },
      ],
    },
  },
  {
    says: 'a node that another program is starting is not moved as one that is stopped',
    schedule: {
      ...{ seed: 407170, nodes: 4, remotes: 2, slices: 0 },
      steps: [
        { wait: 1, what: 'migrate', of: 0, lasts: 1 },
        { wait: 1, what: 'migrate', of: 2, lasts: 1 },
        { wait: 4, what: 'slow_boot', of: 3, lasts: 1349 },
        { wait: 8, what: 'other_start', of: 7, lasts: 126_480 },
        { wait: 24, what: 'migrate', of: 7, lasts: 1501 },
        { wait: 1, what: 'start', of: 3, lasts: 1 },
      ],
    },
  },
  {
    says: 'a node that runs on a slice that has just returned is not moved as one that is stopped',
    schedule: {
      ...{ seed: 21787, nodes: 1, remotes: 0, slices: 1 },
      steps: [
        { wait: 14, what: 'migrate', of: 2, lasts: 1851 },
        { wait: 51582, what: 'start', of: 7, lasts: 776 },
        { wait: 0, events: 43, what: 'compute_kill', of: 4, lasts: 76447 },
        { wait: 1043, what: 'power_cut', of: 6, lasts: 1712 },
        { wait: 2290, what: 'migrate', of: 4, lasts: 98002 },
      ],
    },
  },
  {
    says: 'nodes of a slice that could not be asked for their files, as its cable was pulled, get the copies of them as they are made',
    schedule: {
      ...{ seed: 31005737, nodes: 3, remotes: 0, slices: 1 },
      steps: [
        { wait: 1, what: 'close', of: 0, lasts: 1 },
        { wait: 127, events: 2, what: 'slice_end', of: 1, lasts: 1317 },
        { wait: 9967, what: 'auto_start', of: 4, lasts: 121256 },
        { wait: 1, what: 'cut', of: 0, lasts: 2197 },
        { wait: 1, what: 'open', of: 6, lasts: 1 },
      ],
    },
  },
  {
    says: 'a project is closed on a compute that was lost and back while its first node was made there',
    schedule: {
      ...{ seed: 41015205, nodes: 2, remotes: 2 },
      steps: [
        { wait: 1, what: 'delete', of: 6, lasts: 1 },
        { wait: 1214, what: 'create', of: 5, lasts: 114514 },
        { wait: 7, what: 'compute_kill', of: 1, lasts: 8 },
        { wait: 89651, what: 'close', of: 5, lasts: 926 },
      ],
    },
  },
  {
    says: 'a node that is stopped while its move is cut off does not run on where it went',
    schedule: {
      ...{ seed: 41676, nodes: 1, remotes: 1 },
      steps: [
        { wait: 1389, what: 'restart', of: 0, lasts: 49898 },
        { wait: 21701, what: 'start', of: 2, lasts: 1672 },
        { wait: 24, what: 'compute_kill', of: 3, lasts: 1425 },
        { wait: 1220, what: 'compute_freeze', of: 5, lasts: 75375 },
        { wait: 2282, what: 'reload', of: 1, lasts: 135307 },
        { wait: 791, what: 'migrate', of: 2, lasts: 1212 },
        { wait: 3, events: 61, what: 'compute_freeze', of: 0, lasts: 124050 },
        { wait: 1, what: 'restart', of: 7, lasts: 1 },
        { wait: 16, what: 'stop', of: 4, lasts: 103842 },
      ],
    },
  },
  {
    says: 'a start that takes longer than the lease runs nothing under the next one, when the node runs elsewhere',
    schedule: {
      ...{ seed: 516906, nodes: 4, remotes: 0, slices: 1, room: 3 },
      steps: [
        { wait: 6125, what: 'stop_all', of: 3, lasts: 126_368 },
        { wait: 1, what: 'start_all', of: 1, lasts: 1 },
        { wait: 21_321, events: 1, what: 'guest_off', of: 1, lasts: 1 },
        { wait: 249, what: 'compute_freeze', of: 5, lasts: 541 },
        { wait: 124, events: 20, what: 'compute_freeze', of: 2, lasts: 83_557 },
        { wait: 56_645, what: 'slow_boot', of: 1, lasts: 132_302 },
        { wait: 50_509, what: 'stop_all', of: 6, lasts: 747 },
      ],
    },
  },
];
