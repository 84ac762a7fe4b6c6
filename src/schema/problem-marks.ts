/** Marks in a node's command line that tell clients of the GNS3 API why the node cannot be used or was not started. */
export const unusableMark = 'Not usable: ';
export const notStartedMark = 'Not started: ';

/** Returns the problem in a command line, as a sentence for users; undefined: there is none. */
export function problemIn(commandLine: string | null): string | undefined {
  return [unusableMark, notStartedMark].find((mark) => commandLine?.startsWith(mark)) && (commandLine ?? undefined);
}
