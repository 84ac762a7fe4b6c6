import { kinds } from '../../emulators/kinds.ts';
import type { NodeType } from '../../schema/node.ts';

/** Translates `console_type: null` of a project file: to `none` for a kind that can have a console, else it stays null. */
export function noConsoleOf(type: unknown): 'none' | null {
  return kinds[type as NodeType]?.consoleTypes.length === 0 ? null : 'none';
}
