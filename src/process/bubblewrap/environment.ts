import { jobVariable } from '../../lib/job-variable.ts';

/** Variables of the server's environment that a confined program gets. Others may be secrets, which it could read in `/proc/PID/environ`. */
const passed = /^(PATH|LANG|LANGUAGE|LC_\w+|LOCALE_ARCHIVE|TZ|TERM|LD_LIBRARY_PATH|QEMU_\w+)$/;

/** The environment of a program that is started; all of the server's where bubblewrap does not confine it. */
export function environmentFor(filter: Buffer | undefined): NodeJS.ProcessEnv {
  if (filter === undefined) return process.env;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => passed.test(name) || name === jobVariable));
}
