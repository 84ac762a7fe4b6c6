import type { Finding } from '../schema/finding.ts';

/** What was found is good for this long: the user may install what is missing. */
const keptMs = 60_000;

/** Findings that several clients ask for: examined on request, and kept for a while. */
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
