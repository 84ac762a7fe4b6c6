/** `lab run`: runs a lab on a temporary server for the duration of a command. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { CliCall, CliCommand } from '../command.ts';
import { serverOptions, varOption } from '../command.ts';
import { ServerClient } from '../server-client.ts';
import { applyLab, planOf } from './apply-commands.ts';
import { labOf } from './lab-source.ts';
import { type OwnServer, startOwnServer } from './own-server.ts';

export const runCommand: CliCommand = {
  name: 'lab run',
  args: '[FILE] [-- COMMAND]',
  takesFiles: true,
  takesRest: true,
  isLocal: true,
  summary: 'Start a server of its own, apply a lab and start its nodes; end all of it at Ctrl-C, or when COMMAND ends',
  options: { ...varOption, json: serverOptions.json },
  examples: [
    { line: 'patchbay lab run ring.yaml', does: 'Until Ctrl-C; prints the address of the page' },
    {
      line: 'patchbay lab run ring.yaml -- ./check.sh',
      does: 'For a pipeline: PATCHBAY_URL is set for check.sh, whose exit code is returned',
    },
  ],
  run: async (call) => {
    const lab = await labOf(call);
    call.out.note('Starting a server for this lab');
    const server = await startOwnServer();
    try {
      const api = new ServerClient({ url: server.url }, call.signal);
      const own: CliCall = { ...call, api, options: { ...call.options, start: true, yes: true } };
      await applyLab(own, lab, await planOf(own, lab));
      if (call.rest.length > 0) return await runUser(call, server, lab.name);
      call.out.note(`The lab runs. Use it with PATCHBAY_URL=${server.url}; Ctrl-C ends it.`);
      if (!call.signal.aborted) await once(call.signal, 'abort');
      return 0;
    } finally {
      call.out.note('Ending the server and its nodes');
      await server.end();
    }
  },
};

/** Runs the user's command and returns its exit code. Ctrl-C reaches it through the terminal, or from here. */
async function runUser({ rest: [command = '', ...args], signal }: CliCall, { url }: OwnServer, project: string): Promise<number> {
  const env = userEnvironment({ PATCHBAY_URL: url, PATCHBAY_PROJECT: project });
  const child = spawn(command, args, { stdio: 'inherit', env });
  signal.addEventListener('abort', () => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new Error(`${command} cannot be started: ${error.message}`)));
    child.once('exit', (code, killedBy) => resolve(code ?? (killedBy === 'SIGINT' ? 130 : 143)));
  });
}

/** Returns the environment of a user's command, with the variables in `set`. */
export function userEnvironment(set: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  // An installed package sets Node options in `scripts/patchbay.mjs` that are for this program alone.
  const nodeOptions = (process.env.NODE_OPTIONS ?? '').replace(
    /--import=\S*strip-types\.mjs --disable-warning=ExperimentalWarning/,
    '',
  );
  return { ...process.env, NODE_OPTIONS: nodeOptions.trim(), ...set };
}
