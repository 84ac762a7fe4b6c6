/** Versions of QEMU as lists of numbers: 7.2.22 is [7, 2, 22]. */
export type Version = readonly number[];

/** The word after "version" in what `-version` prints; undefined when there is none. */
export function versionWord(output: string): string | undefined {
  return /\bversion\s+v?(\d[0-9a-z.-]*)/i.exec(output)?.[1];
}

export function parseVersion(text: string): Version {
  return (/^\d+(\.\d+)*/.exec(text)?.[0] ?? '0').split('.').map(Number);
}

/** Whether a version is the wanted one or later; missing numbers count as 0. */
export function atLeast(version: Version, ...wanted: number[]): boolean {
  for (const [index, number] of wanted.entries()) {
    const mine = version[index] ?? 0;
    if (mine !== number) return mine > number;
  }
  return true;
}

/** Major and minor number, such as `7.2`: what releases with the same ones write, the others read. */
export function qemuSeries(version: Version): string {
  return `${version[0] ?? 0}.${version[1] ?? 0}`;
}
