/** Words of virtual machines that both nodes and templates use. Source: the established v2 API. */
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
] as const;
export const bootPriorities = ['c', 'd', 'n', 'cn', 'cd', 'dn', 'dc', 'nc', 'nd'] as const;
export const closeActions = ['power_off', 'shutdown_signal', 'save_vm_state'] as const;
export const processPriorities = ['realtime', 'very high', 'high', 'normal', 'low', 'very low'] as const;
