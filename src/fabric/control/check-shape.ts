import { fault } from '../../api/faults.ts';
import type { Shape } from '../../lib/shape.ts';

/** @throws invalid_request saying what is wrong with `given`, which is called `name` */
export function checkShape<T>(shape: Shape<T>, given: unknown, name: string): T {
  const reason = shape.problem(given, name);
  if (reason !== undefined) throw fault('invalid_request', { reason });
  return given as T;
}
