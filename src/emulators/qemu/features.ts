/**
 * Everything of ours that differs between versions of QEMU, in one table: from which version on, and whose word that is. What users' options
 * are called now is in `retired-options.ts`. What is later than the
 * version here (7.2) is not tried in this repository's tests, only asked of the table.
 */
import { atLeast, type Version } from './version.ts';

interface Feature {
  /** Major and minor number. */
  readonly since: readonly [major: number, minor: number];
  readonly what: string;
  readonly source: string;
}

const asGns3 = 'the GNS3 2.2 compute, whose command lines are the same from this version on';

export const features = {
  smmOption: { since: [2, 4], what: '-machine smm=off', source: asGns3 },
  pciBridges: { since: [2, 4], what: 'adapters behind i82801b11-bridge and pci-bridge', source: asGns3 },
  characterLog: { since: [2, 6], what: 'logfile= of character devices', source: 'QEMU 2.6, ChangeLog' },
  noLegacyNetworking: { since: [2, 9], what: '-net with vlan= is gone', source: asGns3 },
  linkSpeed: { since: [2, 12], what: 'speed= and duplex= of virtio-net-pci', source: asGns3 },
  displayNone: { since: [3, 0], what: '-display none in place of -nographic', source: asGns3 },
  ideDisk: { since: [4, 2], what: 'ide-hd in place of ide-drive', source: asGns3 },
  streamNetdev: {
    since: [7, 2],
    what: '-netdev stream on a Unix socket',
    source: 'QEMU 7.2, ChangeLog; used by every test with a machine',
  },
  memoryFiles: {
    since: [7, 2],
    what: 'memory saved and restored as files',
    source: 'tried with 7.2 only; an earlier one is refused',
  },
} as const satisfies Readonly<Record<string, Feature>>;

export type FeatureName = keyof typeof features;

export function hasFeature(version: Version, name: FeatureName): boolean {
  return atLeast(version, ...features[name].since);
}
