/** How the command line of a node that cannot be used, or could not be started, tells clients of the GNS3 API the reason. */
export const unusableMark = 'Not usable: ';
export const notStartedMark = 'Not started: ';

/** For people; undefined: the node has no problem. */
export function problemIn(commandLine: string | null): string | undefined {
  return [unusableMark, notStartedMark].find((mark) => commandLine?.startsWith(mark)) && (commandLine ?? undefined);
}
