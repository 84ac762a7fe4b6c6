/** Texts of the notices over the canvas: loaded with them. */
const list = new Intl.ListFormat('en');
const most = 3;

/** Names in a line: "A, B, and 4 more". */
function namesOf(names: readonly string[]): string {
  return list.format(names.length > most + 1 ? [...names.slice(0, most), `${names.length - most} more`] : names);
}

export const noticeTexts = {
  label: 'Findings',
  more: (count: number) => `${count} more findings follow when these have ended or are dismissed.`,
  closedBy: (link: string) => `A loop of switches floods the lab. ${link} closes it.`,
  carried: (links: number) => `A storm of broadcasts is on ${links === 1 ? 'a link' : `${links} links`}.`,
  image: (names: readonly string[], why: string) => `${namesOf(names)}: ${why}`,
  address: (names: readonly string[], address: string) =>
    `${namesOf(names)} have the same address, ${address}. Change one, with the command ip.`,
  oneWay: ([from, to]: readonly [string, string], filter: string, lost: number, arrived: number) =>
    `Frames pass one way only: of ${from} to ${to}, the last ${lost} were dropped by the filter ${filter}, and ${arrived} came back.`,
  mtu: (names: readonly string[], mtus: readonly number[]) =>
    `${namesOf(names)} share a segment with MTUs of ${list.format(mtus.map(String))}: larger packets can be lost. The command is ip mtu ${mtus.at(-1)}.`,
  silent: (name: string, minutes: number, received: number) =>
    `${name} has run for ${minutes} minutes and sent no frame; it was sent ${received}.`,
  unmade: (names: string, why: string) => `${names} could not be linked. ${why}`,
  removeFilter: 'Remove the filter',
  consoleOf: (name: string) => `Console of ${name}`,
} as const;
