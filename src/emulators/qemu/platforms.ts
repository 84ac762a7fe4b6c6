/** The architectures that QEMU emulates, as the API names them, old ones included. */
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
export type Platform = (typeof platforms)[number];

export function isPlatform(text: string): text is Platform {
  return (platforms as readonly string[]).includes(text);
}

/** QEMU's name of each architecture, by Node's name. */
const hostPlatforms: Readonly<Record<string, Platform>> = {
  x64: 'x86_64',
  ia32: 'i386',
  arm64: 'aarch64',
  arm: 'arm',
  ppc64: 'ppc64',
  s390x: 's390x',
  mips: 'mips',
  mipsel: 'mipsel',
};

/** The architecture of the machine we run on. */
export function hostPlatform(architecture: string = process.arch): Platform {
  return hostPlatforms[architecture] ?? 'x86_64';
}

/** Architectures that the host's processor runs natively, so that hardware acceleration is possible. */
export function nativePlatforms(host: Platform = hostPlatform()): readonly Platform[] {
  return host === 'x86_64' ? ['x86_64', 'i386'] : [host];
}

/** Whether a file of this name is an emulator that may be named by a client. */
export function isEmulatorName(name: string): boolean {
  return name === 'qemu' || /^qemu-system-[\w.+-]+$/.test(name) || /^qemu-kvm[\w.+-]*$/.test(name);
}

/** The architecture of an emulator, by its file's name; undefined for one that the API does not know. */
export function platformOfBinary(name: string): Platform | undefined {
  if (name === 'qemu') return 'i386';
  if (name.startsWith('qemu-kvm')) return hostPlatform();
  const found = /^qemu-system-(\w+)/.exec(name)?.[1] ?? '';
  return isPlatform(found) ? found : undefined;
}

/** Debian's package of an emulator. */
export function packageOf(platform: string): string {
  if (/^(x86_64|i386)$/.test(platform)) return 'qemu-system-x86';
  if (/^(aarch64|arm)$/.test(platform)) return 'qemu-system-arm';
  if (/^(ppc|sparc|mips|s390x)/.test(platform)) return `qemu-system-${/^(ppc|sparc|mips|s390x)/.exec(platform)?.[1]}`;
  return 'qemu-system-misc';
}
