import { kinds } from '../../emulators/kinds.ts';
import type { NodeType } from '../../schema/node.ts';

/** What `console_type: null` of a project file means: `none` for a kind that can have a console, and null stays for the others. */
export function noConsoleOf(type: unknown): 'none' | null {
  return kinds[type as NodeType]?.consoleTypes.length === 0 ? null : 'none';
}
