/** Programs that a test needs and this machine lacks. */
import { findProgram } from '../../src/emulators/host/find-program.ts';

/** The reason to skip a test; undefined when all of them are installed. */
export async function missingPrograms(
  ...programs: readonly (readonly [program: string, debianPackage: string])[]
): Promise<string | undefined> {
  const missing: string[] = [];
  for (const [name, debianPackage] of programs) {
    if (!(await findProgram(name))) missing.push(`${name} (package ${debianPackage})`);
  }
  return missing.length > 0 ? `missing: ${missing.join(', ')}` : undefined;
}
