/** The free options of a machine: split as a shell would, with placeholders. What they may say is in options-check.ts. */
import { fault } from '../../api/faults.ts';

/** Splits like a POSIX shell: blanks, single and double quotes, backslashes. @throws qemu_failed on a quote that is not closed */
export function splitOptions(options: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < options.length; at++) {
    const char = options.charAt(at);
    if (quote === "'") {
      if (char === "'") quote = '';
      else word += char;
    } else if (char === '\\' && (quote === '' || '"\\$`\n'.includes(options.charAt(at + 1)))) {
      if (at + 1 >= options.length) throw badQuoting(options, 'it ends with a backslash');
      at += 1;
      word = (word ?? '') + options.charAt(at);
    } else if (quote === '"') {
      if (char === '"') quote = '';
      else word += char;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= '';
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + char;
  }
  if (quote !== '') throw badQuoting(options, `a ${quote} is not closed`);
  if (word !== undefined) words.push(word);
  return words;
}

const badQuoting = (options: string, reason: string) =>
  fault('qemu_failed', { reason: `The QEMU options cannot be read: ${reason} in: ${options}` });

export interface Placeholders {
  readonly name: string;
  readonly nodeId: string;
  readonly projectId: string;
  readonly projectDirectory: string;
  readonly consolePort: number | null;
}

/** Fills in `%vm-name%` and its like. Done after splitting, so that a name with blanks or quotes stays one word. */
export function fillPlaceholders(words: readonly string[], values: Placeholders): string[] {
  const table: Record<string, string | undefined> = {
    'vm-name': escapeCommas(values.name),
    'vm-id': values.nodeId,
    'project-id': values.projectId,
    'project-path': values.projectDirectory,
    'guest-cid': String(guestCid(values)),
    'console-port': values.consolePort === null ? undefined : String(values.consolePort),
  };
  return words.map((word) => word.replace(/%([a-z-]+)%/g, (whole, name: string) => table[name] ?? whole));
}

/** Address of a guest on a virtual socket: the console's port, which is unique, else made from the node's id. */
function guestCid({ consolePort, nodeId }: Placeholders): number {
  if (consolePort !== null) return consolePort;
  // 0 to 2 are reserved, and 32 bits of the id are enough to spread nodes over what is left of 16 bits.
  return 3 + (Number.parseInt(nodeId.slice(0, 8), 16) % 65_532);
}

/** Doubles each comma, as QEMU's option strings want it inside a value. */
export function escapeCommas(value: string): string {
  return value.replaceAll(',', ',,');
}

/** Whether the options have one of these, with one dash or two. */
export function hasOption(words: readonly string[], ...names: string[]): boolean {
  return words.some((word) => names.some((name) => word === `-${name}` || word === `--${name}`));
}

/** The accelerator that the options ask for; undefined when they leave it to us. */
export function chosenAccelerator(words: readonly string[]): string | undefined {
  for (const [index, word] of words.entries()) {
    const value = words[index + 1] ?? '';
    if (/^--?(machine|M)$/.test(word)) {
      const accel = /(?:^|,)accel=([\w:]+)/.exec(value)?.[1];
      if (accel !== undefined) return accel;
    }
    if (/^--?accel$/.test(word)) return /^(?:accel=)?(\w+)/.exec(value)?.[1] ?? value;
  }
  return undefined;
}
