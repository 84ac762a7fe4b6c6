import type { Finding } from '../schema/finding.ts';

const marks = { good: '✔', note: '•', missing: '✖' } as const;

/** The findings for people: one line each, and one command that brings all that is not there. */
export function printFindings(title: string, findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ what }) => what.length));
  const lines = findings.map(({ state, what, found }) => `  ${marks[state]} ${what.padEnd(width)}  ${found}`);
  const packages = [...new Set(findings.flatMap((finding) => finding.package ?? []))];
  const advice =
    packages.length > 0
      ? [
          `\nTo get what is not there, as root:\n  apt-get update && apt-get install -y --no-install-recommends ${packages.join(' ')}`,
        ]
      : ['\nEverything is there.'];
  return `${[title, ...lines, ...advice].join('\n')}\n`;
}
