import type { Finding } from '../schema/finding.ts';

/** Time for which findings are reused, ms; the user may install missing parts meanwhile. */
const keptMs = 60_000;

/** Examines the machine on request and reuses the findings for a while, because several clients request them. */
export function keepFindings(
  look: () => Promise<Finding[]>,
  now: () => number = () => performance.now(),
): () => Promise<Finding[]> {
  let findings: Promise<Finding[]> | undefined;
  let foundAt = 0;
  return () => {
    if (findings && now() - foundAt < keptMs) return findings;
    foundAt = now();
    const looking = look();
    findings = looking;
    looking.catch(() => {
      if (findings === looking) findings = undefined;
    });
    return looking;
  };
}
