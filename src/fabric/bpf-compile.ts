/** Compiles capture expressions to the classic BPF programs that `bpf.ts` runs, for the server. tcpdump does the work. */
import { fault } from '../api/faults.ts';
import { runTool } from '../process/tool.ts';
import { couldNotRun, unprivilegedCommand } from '../process/unprivileged.ts';
import { knownFilters } from '../schema/filter.ts';
import type { BpfInstruction } from './protocol.ts';

/** The command that confines a program. */
type Confine = (
  program: string,
  args: readonly string[],
) => Promise<{ program: string; args: string[]; filter?: Buffer | undefined }>;

const limitMs = 5000;
/** Limits of tcpdump, which reads text that clients wrote. It needs far less than this. */
const confined = (program: string, args: readonly string[]) =>
  unprivilegedCommand(program, args, { memoryBytes: 512 * 2 ** 20, seconds: limitMs / 1000 });
/** Debian keeps tcpdump in /usr/bin, others in sbin, which the PATH of a service often lacks. */
const toolEnv = () => ({ LC_ALL: 'C', PATH: `${process.env.PATH ?? '/usr/bin'}:/usr/sbin:/sbin` });
const remembered = 256;

/**
 * Compiles one expression for Ethernet frames. It is passed behind `--` and without a shell, so it can never be an option.
 *
 * @throws filter_invalid with tcpdump's words, tool_missing
 */
export function compileBpf(expression: string, confine: Confine = confined): Promise<BpfInstruction[]> {
  return named('bpf', programOf(expression, confine));
}

/** Returns the command that runs tcpdump for clients, with the same limits; words of tcpdump follow. */
export async function tcpdumpCommand() {
  const command = await confined('tcpdump', []);
  return { ...command, env: { ...command.env, ...toolEnv() } };
}

/** An expression that cannot be compiled. */
class InvalidExpression extends Error {}

/** @throws filter_invalid for the filter that has the expression, tool_missing */
function named(filter: string, program: Promise<BpfInstruction[]>): Promise<BpfInstruction[]> {
  return program.catch((cause: unknown) => {
    if (!(cause instanceof InvalidExpression)) throw cause;
    throw fault('filter_invalid', { name: filter, reason: cause.message, known: knownFilters }, { cause });
  });
}

/** @throws InvalidExpression, tool_missing */
async function programOf(expression: string, confine: Confine): Promise<BpfInstruction[]> {
  const listing = await runTcpdump(expression, confine);
  const [count, ...lines] = listing.trim().split('\n');
  const program = lines.map((line) => line.trim().split(' ').map(Number));
  if (Number(count) !== program.length || !program.every(isInstruction))
    throw invalid(`tcpdump gave no program: ${listing.slice(0, 200)}`);
  return program as BpfInstruction[];
}

/** Remembers the programs of the expressions used last. */
export class BpfCompiler {
  readonly #programs = new Map<string, Promise<BpfInstruction[]>>();
  readonly #confine: Confine;

  /** `confine`: of tests. */
  constructor(confine: Confine = confined) {
    this.#confine = confine;
  }

  /** Compiles an expression as `compileBpf` does, for the filter of this name. The answer is shared: it must not be changed. */
  compile(expression: string, filter = 'bpf'): Promise<BpfInstruction[]> {
    const program = this.#programs.get(expression) ?? programOf(expression, this.#confine);
    // The map's order is that of use: the first key is the one unused for longest.
    this.#programs.delete(expression);
    this.#programs.set(expression, program);
    const [oldest] = this.#programs.keys();
    if (this.#programs.size > remembered && oldest !== undefined) this.#programs.delete(oldest);
    // An error may be of the moment, such as tcpdump not being installed.
    program.catch(() => {
      if (this.#programs.get(expression) === program) this.#programs.delete(expression);
    });
    return named(filter, program);
  }
}

async function runTcpdump(expression: string, confine: Confine): Promise<string> {
  if (expression.includes('\0')) throw invalid('an expression is text');
  const env = toolEnv();
  const { program, args, filter } = await confine('tcpdump', ['-y', 'EN10MB', '-ddd', '--', expression]);
  const { code, stdout, stderr, reason } = await runTool(program, args, { timeoutMs: limitMs, env, filter });
  if (code === 0) return stdout;
  if (couldNotRun(code) || reason.includes('ENOENT')) throw fault('tool_missing', { tool: 'tcpdump', package: 'tcpdump' });
  throw invalid(code === undefined ? `tcpdump: ${reason}` : wordsOf(stderr) || reason);
}

/** tcpdump says what is wrong in its last line. */
function wordsOf(stderr: string): string {
  const last = stderr.trim().split('\n').at(-1) ?? '';
  return last.replace(/^tcpdump: /, '');
}

function isInstruction(numbers: number[]): boolean {
  return numbers.length === 4 && numbers.every((number) => Number.isInteger(number) && number >= 0);
}

function invalid(reason: string): Error {
  return new InvalidExpression(reason);
}
