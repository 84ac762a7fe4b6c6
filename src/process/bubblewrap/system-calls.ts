/**
 * System calls that no confined program needs, with their numbers for x86_64, i386 and aarch64. Each is a way to another process, another
 * root folder, another namespace, or to the host as a whole. @see the kernel's headers asm/unistd_64.h, asm/unistd_32.h, asm-generic/unistd.h
 */

export type Architecture = 'x86_64' | 'i386' | 'aarch64';
type Numbers = readonly [x86_64: number, i386: number, aarch64: number];

/** The architecture has no such call. */
export const none = -1;

export const deniedCalls: Readonly<Record<string, Numbers>> = {
  // Other processes: their memory, their descriptors, their objects.
  ptrace: [101, 26, 117],
  process_vm_readv: [310, 347, 270],
  process_vm_writev: [311, 348, 271],
  pidfd_open: [434, 434, 434],
  pidfd_getfd: [438, 438, 438],
  kcmp: [312, 349, 272],
  process_madvise: [440, 440, 440],
  process_mrelease: [448, 448, 448],
  migrate_pages: [256, 294, 238],
  move_pages: [279, 317, 239],
  // Root folders and mounts.
  mount: [165, 21, 40],
  umount: [none, 22, none],
  umount2: [166, 52, 39],
  pivot_root: [155, 217, 41],
  chroot: [161, 61, 51],
  open_tree: [428, 428, 428],
  move_mount: [429, 429, 429],
  fsopen: [430, 430, 430],
  fsconfig: [431, 431, 431],
  fsmount: [432, 432, 432],
  fspick: [433, 433, 433],
  mount_setattr: [442, 442, 442],
  open_by_handle_at: [304, 342, 265],
  name_to_handle_at: [303, 341, 264],
  fanotify_init: [300, 338, 262],
  quotactl: [179, 131, 60],
  quotactl_fd: [443, 443, 443],
  // Namespaces.
  unshare: [272, 310, 97],
  setns: [308, 346, 268],
  // Code and tracing in the kernel.
  bpf: [321, 357, 280],
  perf_event_open: [298, 336, 241],
  userfaultfd: [323, 374, 282],
  kexec_load: [246, 283, 104],
  kexec_file_load: [320, none, 294],
  init_module: [175, 128, 105],
  finit_module: [313, 350, 273],
  delete_module: [176, 129, 106],
  create_module: [174, 127, none],
  query_module: [178, 167, none],
  get_kernel_syms: [177, 130, none],
  io_uring_setup: [425, 425, 425],
  io_uring_enter: [426, 426, 426],
  io_uring_register: [427, 427, 427],
  lookup_dcookie: [212, 253, 18],
  // Keys.
  add_key: [248, 286, 217],
  request_key: [249, 287, 218],
  keyctl: [250, 288, 219],
  // The host as a whole.
  reboot: [169, 88, 142],
  swapon: [167, 87, 224],
  swapoff: [168, 115, 225],
  acct: [163, 51, 89],
  syslog: [103, 103, 116],
  settimeofday: [164, 79, 170],
  stime: [none, 25, none],
  clock_settime: [227, 264, 112],
  clock_settime64: [none, 404, none],
  clock_adjtime: [305, 343, 266],
  clock_adjtime64: [none, 405, none],
  adjtimex: [159, 124, 171],
  sethostname: [170, 74, 161],
  setdomainname: [171, 121, 162],
  vhangup: [153, 111, 58],
  iopl: [172, 110, none],
  ioperm: [173, 101, none],
  nfsservctl: [180, 169, 42],
  uselib: [134, 86, none],
  sysfs: [139, 135, none],
  ustat: [136, 62, none],
  _sysctl: [156, 149, none],
  vm86: [none, 166, none],
  vm86old: [none, 113, none],
};

/** `clone` may make processes and threads, not namespaces; `clone3`, whose flags a filter cannot read, is not known to a confined program. */
export const cloneCalls: Readonly<Record<'clone' | 'clone3', Numbers>> = { clone: [56, 120, 220], clone3: [435, 435, 435] };

/** The last call that is known to be harmless unless it is denied: those of later kernels do not exist for a confined program. */
export const lastKnownCall = 456;
