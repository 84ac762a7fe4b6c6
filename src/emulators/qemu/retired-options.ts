/**
 * Options that QEMU no longer has, and what they are called now: old labs and appliances still write them. One without a row here is left as
 * it is, and QEMU's refusal says so. Source of all rows: "Removed features" in QEMU's own documents, which names the version.
 */
import { atLeast, type Version } from './version.ts';

interface RetiredOption {
  /** Major and minor number of the first QEMU without it. */
  readonly since: readonly [major: number, minor: number];
  /** Takes a value, and only this one is replaced. Absent: it takes none. */
  readonly value?: string;
  /** Empty where QEMU does so anyway. */
  readonly words: readonly string[];
}

const row = (since: readonly [number, number], words: string, value?: string): RetiredOption => ({
  since,
  words: words.split(' ').filter((word) => word !== ''),
  ...(value !== undefined && { value }),
});

export const retiredOptions: Readonly<Record<string, readonly RetiredOption[]>> = {
  'no-kvm-pit': [row([2, 12], '')],
  tdf: [row([2, 12], '')],
  'no-kvm-irqchip': [row([3, 0], '-machine kernel_irqchip=off')],
  'no-kvm-pit-reinjection': [row([3, 0], '-global kvm-pit.lost_tick_policy=discard')],
  balloon: [row([3, 1], '', 'none'), row([3, 1], '-device virtio-balloon', 'virtio')],
  localtime: [row([3, 1], '-rtc base=localtime')],
  nodefconfig: [row([3, 1], '-no-user-config')],
  'rtc-td-hack': [row([3, 1], '-rtc driftfix=slew')],
  'no-kvm': [row([5, 2], '-machine accel=tcg')],
  realtime: [row([6, 0], '', 'mlock=off')],
  'show-cursor': [row([6, 0], '')],
  'no-quit': [row([7, 0], '')],
  'no-acpi': [row([9, 0], '-machine acpi=off')],
  'no-hpet': [row([9, 0], '-machine hpet=off')],
};

/** A user's options, for this version of QEMU. */
export function currentOptions(words: readonly string[], version: Version): string[] {
  const current: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    const found = findRetired(word, words[at + 1]);
    if (found === undefined || !atLeast(version, ...found.since)) {
      current.push(word);
      continue;
    }
    current.push(...found.words);
    if (found.value !== undefined) at += 1;
  }
  return current;
}

function findRetired(word: string, next: string | undefined): RetiredOption | undefined {
  const name = /^--?(?=[a-z])(.+)$/.exec(word)?.[1] ?? '';
  const rows = Object.hasOwn(retiredOptions, name) ? retiredOptions[name] : undefined;
  return rows?.find(({ value }) => value === undefined || value === next);
}
