/** Small programs that run to their end: `qemu-img`, and emulators asked for their version. */
import { execFile } from 'node:child_process';
import { runMarker } from './child.ts';

export interface ToolResult {
  /** Exit code; undefined when it could not be run, was killed or took too long. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** What went wrong, for people; empty when the code is 0. */
  readonly reason: string;
}

export interface ToolOptions {
  readonly timeoutMs: number;
  readonly cwd?: string;
  /** Added to our own. */
  readonly env?: Readonly<Record<string, string>>;
  /** Its standard input. */
  readonly input?: string;
  /** For what might not end by itself: it ends with this process, and carries the server's marker in case that one is killed. */
  readonly runDirectory?: string;
}

/** Never rejects. Arguments are passed as they are: there is no shell in between. */
export function runTool(
  program: string,
  args: readonly string[],
  { timeoutMs, cwd, env: given, input, runDirectory }: ToolOptions,
): Promise<ToolResult> {
  return new Promise((resolve) => {
    const env = { ...process.env, ...given, ...(runDirectory !== undefined && { [runMarker]: runDirectory }) };
    const options = {
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      maxBuffer: 4 << 20,
      ...(cwd !== undefined && { cwd }),
      env,
    } as const;
    const end = () => child.kill('SIGKILL');
    const child = execFile(program, [...args], options, (error, stdout, stderr) => {
      process.off('exit', end);
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : undefined;
      const late = error?.killed ? `it did not end within ${timeoutMs / 1000} s` : '';
      const words =
        [late, stderr.trim()].filter((part) => part !== '').join('; ') || error?.message || `it ended with code ${code}`;
      resolve({ code, stdout, stderr, reason: code === 0 ? '' : words });
    });
    if (runDirectory !== undefined) process.once('exit', end);
    // It may end before it has read everything.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}
