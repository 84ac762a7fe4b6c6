import { fault } from '../../../api/faults.ts';
import { bubblewrapObstacle } from '../../../process/bubblewrap/usable.ts';

/** Refuses the start of a program that never runs unconfined. @throws confinement_failed with what is missing */
export async function requireBubblewrap(program: string): Promise<void> {
  const reason = await bubblewrapObstacle();
  if (reason !== undefined) throw fault('confinement_failed', { program, reason });
}
