/**
 * Turns classic BPF programs into JavaScript functions. Theory of operation: every instruction becomes a line of code made of checked
 * numbers only; jumps go forward, so the lines stand in the cases of one `switch` and fall through from one to the next, and a jump
 * sets the case to continue with. Registers A and X and the 16 words of memory are 32-bit integers. A load beyond the frame ends the
 * program with "no match", as does a division by zero.
 *
 * @see McCanne, Jacobson: The BSD Packet Filter (1993); the codes are those of `net/bpf.h` of libpcap.
 */
import { fault } from '../../api/faults.ts';
import { knownFilters } from '../../schema/filter.ts';
import type { BpfInstruction } from '../protocol.ts';

/** Returns 0 when the frame `buffer[start, end)` does not match. */
export type BpfProgram = (buffer: Uint8Array, start: number, end: number) => number;

/** BPF_MAXINSNS of Linux (`linux/bpf_common.h`). */
const maxInstructions = 4096;
/** BPF_MEMWORDS of `net/bpf.h`. */
const memoryWords = 16;

/** @throws filter_invalid when the list is not a program. */
export function translateBpf(instructions: readonly BpfInstruction[]): BpfProgram {
  if (!Array.isArray(instructions) || instructions.length === 0 || instructions.length > maxInstructions) {
    throw invalid(`a program has 1 to ${maxInstructions} instructions`);
  }
  const lines: string[] = [];
  const targets = new Set<number>([0]);
  for (const [index, instruction] of instructions.entries()) {
    checkNumbers(instruction, index);
    for (const target of jumpTargets(instruction, index)) {
      if (target >= instructions.length) throw invalid(`instruction ${index} jumps out of the program`);
      targets.add(target);
    }
    lines.push(lineOf(instruction, index));
  }
  const last = instructions.at(-1) as BpfInstruction;
  if ((last[0] & 7) !== classes.ret) throw invalid('the program does not end with a return');
  const body = lines.map((line, index) => (targets.has(index) ? `case ${index}: ${line}` : line)).join('\n');
  const memory = Array.from({ length: memoryWords }, (_, word) => `m${word} = 0`).join(', ');
  const source = `let a = 0, x = 0, at = 0, pc = 0, ${memory};\nconst size = end - start;\nfor (;;) switch (pc) {\n${body}\n}`;
  return new Function('buffer', 'start', 'end', source) as BpfProgram;
}

const classes = { ld: 0, ldx: 1, st: 2, stx: 3, alu: 4, jmp: 5, ret: 6, misc: 7 } as const;

function checkNumbers(instruction: BpfInstruction, index: number): void {
  const [code, jt, jf, k] = Array.isArray(instruction) ? instruction : [];
  const within = (value: unknown, limit: number) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= limit;
  if (!within(code, 0xffff) || !within(jt, 255) || !within(jf, 255) || !within(k, 0xffffffff)) {
    throw invalid(`instruction ${index} is not four numbers in range`);
  }
}

function jumpTargets([code, jt, jf, k]: BpfInstruction, index: number): number[] {
  if ((code & 7) !== classes.jmp) return [];
  return (code & 0xf0) === 0 ? [index + 1 + k] : [index + 1 + jt, index + 1 + jf];
}

function lineOf(instruction: BpfInstruction, index: number): string {
  const [code, , , k] = instruction;
  const line = lineOfClass(instruction, index);
  if (line === undefined) throw invalid(`instruction ${index} is unknown: code ${code}, operand ${k}`);
  return line;
}

function lineOfClass(instruction: BpfInstruction, index: number): string | undefined {
  const [code, , , k] = instruction;
  switch (code & 7) {
    case classes.ld:
      return load(code, k);
    case classes.ldx:
      return loadIndex(code, k);
    case classes.st:
      return code === classes.st && k < memoryWords ? `m${k} = a;` : undefined;
    case classes.stx:
      return code === classes.stx && k < memoryWords ? `m${k} = x;` : undefined;
    case classes.alu:
      return arithmetic(code, k);
    case classes.jmp:
      return jump(instruction, index);
    case classes.ret:
      if (code === classes.ret) return `return ${k};`;
      return code === (classes.ret | 0x10) ? 'return a >>> 0;' : undefined;
    default:
      if (code === classes.misc) return 'x = a;';
      return code === (classes.misc | 0x80) ? 'a = x;' : undefined;
  }
}

/** Modes: 0x00 immediate, 0x20 absolute, 0x40 indexed by X, 0x60 memory, 0x80 length. Sizes: 0x00 word, 0x08 half, 0x10 byte. */
function load(code: number, k: number): string | undefined {
  const size = code & 0x18;
  switch (code & 0xe0) {
    case 0x00:
      return size === 0 ? `a = ${k | 0};` : undefined;
    case 0x20:
      return fetch(`${k}`, size);
    case 0x40:
      return fetch(`(x >>> 0) + ${k}`, size);
    case 0x60:
      return size === 0 && k < memoryWords ? `a = m${k};` : undefined;
    case 0x80:
      return size === 0 ? 'a = size;' : undefined;
    default:
      return undefined;
  }
}

function fetch(offset: string, size: number): string | undefined {
  const from = (bytes: number) => `at = ${offset}; if (at + ${bytes} > size) return 0; at += start;`;
  if (size === 0x10) return `${from(1)} a = buffer[at];`;
  if (size === 0x08) return `${from(2)} a = buffer[at] << 8 | buffer[at + 1];`;
  if (size !== 0x00) return undefined;
  return `${from(4)} a = buffer[at] << 24 | buffer[at + 1] << 16 | buffer[at + 2] << 8 | buffer[at + 3];`;
}

function loadIndex(code: number, k: number): string | undefined {
  if (code === 0x01) return `x = ${k | 0};`;
  if (code === 0x61) return k < memoryWords ? `x = m${k};` : undefined;
  if (code === 0x81) return 'x = size;';
  // msh: four times the low half of a byte, the length of an IP header.
  if (code === 0xb1) return `if (${k} >= size) return 0; x = (buffer[start + ${k}] & 15) << 2;`;
  return undefined;
}

function arithmetic(code: number, k: number): string | undefined {
  const byRegister = (code & 0x08) !== 0;
  const operand = byRegister ? 'x' : `${k | 0}`;
  const unsigned = `(${operand} >>> 0)`;
  if ((code & ~0xf8) !== classes.alu) return undefined;
  switch (code & 0xf0) {
    case 0x00:
      return `a = a + ${operand} | 0;`;
    case 0x10:
      return `a = a - (${operand}) | 0;`;
    case 0x20:
      return `a = Math.imul(a, ${operand});`;
    case 0x30:
      return `if (${unsigned} === 0) return 0; a = (a >>> 0) / ${unsigned} | 0;`;
    case 0x40:
      return `a |= ${operand};`;
    case 0x50:
      return `a &= ${operand};`;
    case 0x60:
      return `a = ${unsigned} < 32 ? a << ${operand} : 0;`;
    case 0x70:
      return `a = ${unsigned} < 32 ? (a >>> ${operand}) | 0 : 0;`;
    case 0x80:
      return byRegister ? undefined : 'a = -a | 0;';
    case 0x90:
      return `if (${unsigned} === 0) return 0; a = (a >>> 0) % ${unsigned} | 0;`;
    case 0xa0:
      return `a ^= ${operand};`;
    default:
      return undefined;
  }
}

function jump([code, jt, jf, k]: BpfInstruction, index: number): string | undefined {
  const target = (offset: number) => `pc = ${index + 1 + offset}; continue;`;
  const operand = (code & 0x08) !== 0 ? 'x' : `${k | 0}`;
  const conditions: Record<number, string> = {
    16: `a === (${operand})`,
    32: `(a >>> 0) > (${operand} >>> 0)`,
    48: `(a >>> 0) >= (${operand} >>> 0)`,
    64: `(a & ${operand}) !== 0`,
  };
  if (code === classes.jmp) return target(k);
  const condition = conditions[code & 0xf0];
  if (condition === undefined || (code & ~0xf8) !== classes.jmp) return undefined;
  return `if (${condition}) { ${target(jt)} } else { ${target(jf)} }`;
}

function invalid(reason: string): Error {
  return fault('filter_invalid', { name: 'bpf', reason, known: knownFilters });
}
