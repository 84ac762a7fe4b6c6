/** The line `IOL_PID=…` of a container's environment, which makes it one of an IOL image (`iol.ts`). */

/** 513 is the program that moves the image's frames; ids of nodes end at 511, as those of IOU. */
export const maxIolNumber = 511;
const variable = 'IOL_PID';
const portsPerSlot = 4;

/** `auto` or a number; undefined: it is no IOL image. */
export function iolWord(environment: unknown): string | undefined {
  if (typeof environment !== 'string') return undefined;
  // No pattern: one that skips blanks takes seconds for a long text of nothing else.
  const line = environment.split('\n').find((one) => one.trimStart().startsWith(`${variable}=`));
  return line?.trim().slice(variable.length + 1);
}

export function isIolWord(word: string): boolean {
  return word === 'auto' || (/^[1-9]\d{0,2}$/.test(word) && Number(word) <= maxIolNumber);
}

/** Lines of an environment, with the number in place of `auto`. */
export function withIolNumber(lines: readonly string[], number: number | undefined): string[] {
  if (number === undefined) return [...lines];
  return [...lines.filter((line) => !line.startsWith(`${variable}=`)), `${variable}=${number}`];
}

/** `Ethernet0/1` is adapter 1, `Ethernet1/0` adapter 4. */
export function iolPort(adapter: number): string {
  return `${Math.floor(adapter / portsPerSlot)}/${adapter % portsPerSlot}`;
}
