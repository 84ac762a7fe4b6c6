/**
 * The filter of system calls (seccomp) of a confined program, as the program that the kernel runs. Calls that are denied fail with EPERM,
 * calls that are not known with ENOSYS, as on an older kernel. @see seccomp(2), linux/filter.h
 */
import { type Architecture, cloneCalls, deniedCalls, lastKnownCall, none } from './system-calls.ts';

/** Fields of `struct seccomp_data`. */
const field = { number: 0, architecture: 4, firstArgument: 16 } as const;
const op = { load: 0x20, jumpIfEqual: 0x15, jumpIfGreater: 0x25, jumpIfBits: 0x45, answer: 0x06 } as const;
const answer = { allow: 0x7fff0000, denied: 0x00050001, unknown: 0x00050026 } as const;
/** Flags of clone(2) that make namespaces: mount, cgroup, UTS, IPC, user, PID, network. */
const namespaceFlags = 0x7e020000;

/** Numbers of linux/audit.h, and the column of the table. */
const architectures: Readonly<Record<Architecture, { readonly audit: number; readonly column: 0 | 1 | 2 }>> = {
  x86_64: { audit: 0xc000003e, column: 0 },
  i386: { audit: 0x40000003, column: 1 },
  aarch64: { audit: 0xc00000b7, column: 2 },
};
/** A host runs programs of these. */
const ofHost: Readonly<Record<string, readonly Architecture[]>> = { x64: ['x86_64', 'i386'], ia32: ['i386'], arm64: ['aarch64'] };

export interface FilterOptions {
  /** Allows io_uring, for machines whose options an administrator let users choose: `aio=io_uring`. Default false. */
  readonly allowsIoUring?: boolean;
  /** Allows namespaces, for a program that makes a root folder and namespaces of its own once it has started (passt). Default false. */
  readonly isolatesItself?: boolean;
}

/** System calls of such a program, beside `clone` with any flags. */
const isolatingCalls: ReadonlySet<string> = new Set(['unshare', 'mount', 'umount2', 'pivot_root']);

/** @returns undefined for a host of another architecture */
export function systemCallFilter(
  { allowsIoUring = false, isolatesItself = false }: FilterOptions = {},
  host: string = process.arch,
): Buffer | undefined {
  const known = ofHost[host];
  if (known === undefined) return undefined;
  const names = Object.keys(deniedCalls).filter((name) => {
    return !(allowsIoUring && name.startsWith('io_uring_')) && !(isolatesItself && isolatingCalls.has(name));
  });
  const code: FilterStep[] = [[op.load, 0, 0, field.architecture]];
  for (const architecture of known) {
    const part = partOf(architecture, names, isolatesItself ? 0 : namespaceFlags);
    code.push([op.jumpIfEqual, 0, part.length, architectures[architecture].audit], ...part);
  }
  code.push([op.answer, 0, 0, answer.unknown]);
  return encode(code);
}

type FilterStep = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/** Ends with an answer in each case, so that nothing jumps further than a byte can say. */
function partOf(architecture: Architecture, names: readonly string[], deniedFlags: number): FilterStep[] {
  const { column } = architectures[architecture];
  const denied = names.map((name) => deniedCalls[name]?.[column] ?? none).filter((number) => number !== none);
  /** Steps behind the tests: a test of the flags of `clone`, then the three answers. */
  const tail: FilterStep[] = [
    [op.load, 0, 0, field.firstArgument],
    [op.jumpIfBits, 1, 0, deniedFlags],
    [op.answer, 0, 0, answer.allow],
    [op.answer, 0, 0, answer.denied],
    [op.answer, 0, 0, answer.unknown],
  ];
  const tests: (readonly [code: number, value: number, target: keyof typeof places])[] = [
    [op.jumpIfGreater, lastKnownCall, 'unknown'],
    [op.jumpIfEqual, cloneCalls.clone3[column], 'unknown'],
    [op.jumpIfEqual, cloneCalls.clone[column], 'clone'],
    ...denied.map((number) => [op.jumpIfEqual, number, 'denied'] as const),
  ];
  const places = { clone: 1, denied: 4, unknown: 5 } as const;
  const jumps = tests.map(
    ([code, value, target], index): FilterStep => [code, tests.length - index - 1 + places[target], 0, value],
  );
  return [[op.load, 0, 0, field.number], ...jumps, [op.answer, 0, 0, answer.allow], ...tail];
}

function encode(code: readonly FilterStep[]): Buffer {
  const bytes = Buffer.alloc(code.length * 8);
  code.forEach(([operation, ifTrue, ifFalse, value], index) => {
    bytes.writeUInt16LE(operation, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  });
  return bytes;
}
