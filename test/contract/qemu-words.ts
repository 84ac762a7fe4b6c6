/** Key names of the contract's node table. Written out here, not imported from the program: the test compares the two. */
export const bootPriorities = ['c', 'd', 'n', 'cn', 'cd', 'dn', 'dc', 'nc', 'nd'];
export const consoleTypes = ['telnet', 'vnc', 'spice', 'spice+agent', 'none'];
export const closeActions = ['power_off', 'shutdown_signal', 'save_vm_state'];
export const processPriorities = ['realtime', 'very high', 'high', 'normal', 'low', 'very low'];
export const platforms = [
  'aarch64',
  'alpha',
  'arm',
  'cris',
  'i386',
  'lm32',
  'm68k',
  'microblaze',
  'microblazeel',
  'mips',
  'mips64',
  'mips64el',
  'mipsel',
  'moxie',
  'or32',
  'ppc',
  'ppc64',
  'ppcemb',
  's390x',
  'sh4',
  'sh4eb',
  'sparc',
  'sparc64',
  'tricore',
  'unicore32',
  'x86_64',
  'xtensa',
  'xtensaeb',
];
