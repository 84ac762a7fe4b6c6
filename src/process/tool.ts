/** Small programs that run to their end: `qemu-img`, and emulators asked for their version. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { filterDescriptor } from './bubblewrap/bubblewrap.ts';
import { environmentFor } from './bubblewrap/environment.ts';
import { runMarker } from './child.ts';
import { prioritise, programNiceness } from './priority.ts';

export interface ToolResult {
  /** Exit code; undefined when it could not be run, was killed or took too long. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** The failure, for people; empty when the code is 0. */
  readonly reason: string;
}

interface ToolOptions {
  readonly timeoutMs: number;
  readonly cwd?: string;
  /** Added to our own, or with `filter` to the variables that confined programs get. */
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input of the tool. */
  readonly input?: string;
  /**
   * Runtime folder for a tool that might not end by itself: it ends with this process, and carries the server's marker in case that one is
   * killed.
   */
  readonly runDirectory?: string;
  /** The filter of system calls that bubblewrap reads. */
  readonly filter?: Buffer | undefined;
}

/** Most that is kept of each output. */
const maxOutputBytes = 4 << 20;

/** Never rejects. Arguments are passed as they are: there is no shell in between. */
export function runTool(
  program: string,
  args: readonly string[],
  { timeoutMs, cwd, env: given, input, runDirectory, filter }: ToolOptions,
): Promise<ToolResult> {
  return new Promise((resolve) => {
    const env = { ...environmentFor(filter), ...given, ...(runDirectory !== undefined && { [runMarker]: runDirectory }) };
    const stdio: 'pipe'[] = filter === undefined ? ['pipe', 'pipe', 'pipe'] : ['pipe', 'pipe', 'pipe', 'pipe'];
    const child = spawn(program, [...args], { stdio, ...(cwd !== undefined && { cwd }), env });
    const niceness = programNiceness();
    if (child.pid !== undefined && niceness !== undefined) prioritise(child.pid, niceness);
    let problem = '';
    const end = () => child.kill('SIGKILL');
    const fail = (reason: string) => {
      problem ||= reason;
      end();
    };
    const late = setTimeout(() => fail(`it did not end within ${timeoutMs / 1000} s`), timeoutMs);
    const [stdout, stderr] = [collect(child.stdout, fail), collect(child.stderr, fail)];
    child.once('error', (error) => {
      problem ||= error.message;
    });
    child.once('close', (exitCode, signal) => {
      clearTimeout(late);
      process.off('exit', end);
      const code = problem === '' ? (exitCode ?? undefined) : undefined;
      const ended = signal === null ? `it ended with code ${exitCode}` : `it was ended by ${signal}`;
      const words = [problem, stderr().trim()].filter((part) => part !== '').join('; ') || ended;
      resolve({ code, stdout: stdout(), stderr: stderr(), reason: code === 0 ? '' : words });
    });
    if (runDirectory !== undefined) process.once('exit', end);
    // The tool may end before it has read everything.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
    writeFilter(child, filter);
  });
}

/** Gives bubblewrap the filter of system calls; nothing without one. It may end before it has read it. */
export function writeFilter(child: ChildProcess, filter: Buffer | undefined): void {
  const pipe = filter && (child.stdio[filterDescriptor] as Writable);
  pipe?.on('error', () => undefined);
  pipe?.end(filter);
}

/** @returns what gives the text so far */
function collect(stream: Readable | null, fail: (reason: string) => void): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream?.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxOutputBytes) fail(`it wrote more than ${maxOutputBytes} bytes`);
    else chunks.push(chunk);
  });
  return () => Buffer.concat(chunks).toString('utf8');
}
