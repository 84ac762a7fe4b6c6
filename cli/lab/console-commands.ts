/** Commands for consoles and captures: console, exec, capture. */
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { type ConsolePlatform, Platforms } from '../../lab/checks/console/platforms.ts';
import { LabError } from '../../lab/file/lab-error.ts';
import { windowSizeMessage } from '../../src/lib/telnet.ts';
import { type CliCommand, CliUsageError, projectOption, serverOptions, textOption } from '../command.ts';
import { openConsole } from './console-socket.ts';
import { getLink, getNode, linkName, readParts } from './find-parts.ts';
import { projectOf } from './lab-source.ts';
import { PromptDialogue } from './prompt-dialogue.ts';

const options = { ...projectOption, ...serverOptions };
/** Ctrl-] ends the console, as in telnet. */
const leave = 0x1d;

const consoleCommand: CliCommand = {
  name: 'lab console',
  args: 'NODE',
  summary: 'Open the console of a started node; Ctrl-] leaves it',
  options,
  examples: [{ line: 'patchbay lab console R1', does: 'The console of R1 of the lab of this folder' }],
  run: async (call) => {
    const [word] = call.args;
    if (word === undefined) throw new CliUsageError('which node? patchbay lab console NODE');
    const parts = await readParts(call.api, await projectOf(call));
    const socket = await openConsole(call.api, parts.path, getNode(parts, word).node_id);
    const { stdin, stdout } = process;
    socket.onData((data) => stdout.write(data));
    const typed = (data: Buffer): void => {
      if (data.includes(leave)) socket.close();
      else socket.send(new Uint8Array(data));
    };
    if (stdin.isTTY) {
      call.out.note(`Connected to ${word}. Ctrl-] leaves.`);
      stdin.setRawMode(true);
    }
    const tellSize = () => socket.send(windowSizeMessage(stdout.columns, stdout.rows));
    if (stdout.isTTY) {
      tellSize();
      stdout.on('resize', tellSize);
    }
    stdin.on('data', typed).once('end', () => socket.close());
    call.signal.addEventListener('abort', () => socket.close());
    try {
      await socket.closed;
    } finally {
      if (stdin.isTTY) stdin.setRawMode(false);
      stdin.off('data', typed).pause();
      stdout.off('resize', tellSize);
    }
    return 0;
  },
};

const execCommand: CliCommand = {
  name: 'lab exec',
  args: 'NODE -- COMMAND',
  takesRest: true,
  summary: 'Type a command into the console of a node, print its answer, and end with its exit code where a shell tells it',
  options: { timeout: { value: 'SECONDS', description: 'Longest time for the answer (default 30)' }, ...options },
  agent: { effect: 'changes', options: ['timeout', 'project'] },
  examples: [
    { line: 'patchbay lab exec PC1 -- ping 10.0.0.2', does: 'A ping from a VPCS node' },
    { line: `patchbay lab exec R1 -- "vtysh -c 'show ip route'"`, does: 'The routes of an FRR container' },
  ],
  run: async (call) => {
    const [word] = call.args;
    const command = call.rest.join(' ');
    if (word === undefined || command === '') throw new CliUsageError('what on which node? patchbay lab exec NODE -- COMMAND');
    const limitMs = Number(textOption(call, 'timeout') ?? 30) * 1000;
    if (!(limitMs > 0)) throw new CliUsageError('--timeout takes a number of seconds');
    const parts = await readParts(call.api, await projectOf(call));
    const node = getNode(parts, word);
    const platform = (await Platforms.load()).ofKind(node.node_type);
    const socket = await openConsole(call.api, parts.path, node.node_id);
    try {
      const dialogue = new PromptDialogue(socket, AbortSignal.any([call.signal, AbortSignal.timeout(limitMs)]));
      const answer = await dialogue.ask(command);
      // The output is printed first, because the request for the exit code may time out.
      if (!call.out.isJson && answer !== '') call.out.print(answer);
      const { code, late } = await exitCodeOf(answer, dialogue, platform).then(
        (found) => ({ code: found, late: undefined }),
        (error: Error) => ({ code: undefined, late: error }),
      );
      if (call.out.isJson) call.out.json({ node: word, command, output: answer, exit_code: code ?? null });
      if (late) throw new LabError(`the command was answered, but its exit code is unknown: ${late.message}`);
      if (code) call.out.note(`The exit code is ${code}.`);
      return code ?? 0;
    } finally {
      socket.close();
    }
  },
};

/** Prompts of shells: `$`, `/ #`, `root@vm:~#`, `sh-5.2#`. Routers have a name and `#` or `>`; for them `?` shows help. */
const shellPrompt = /[$%]$|^#$|[@/~:\]].*#$|^(ba|da|a)?sh-[\d.]+#$/;

/**
 * Returns the exit code of a command at a shell, or 1 when a router's command line refused it; undefined where neither is known.
 */
async function exitCodeOf(answer: string, dialogue: PromptDialogue, platform: ConsolePlatform | undefined) {
  if (platform?.patterns.error) return platform.patterns.error.test(answer) ? 1 : 0;
  if (platform?.shell === undefined || !shellPrompt.test(dialogue.prompt)) return undefined;
  const [, code] = /^pb-exit-(\d{1,3})$/m.exec(await dialogue.ask('echo pb-exit-$?')) ?? [];
  return code === undefined ? undefined : Number(code);
}

const captureCommand: CliCommand = {
  name: 'lab capture',
  args: 'LINK',
  summary: 'Capture the frames of a link into a file or to standard output, until Ctrl-C or a limit',
  options: {
    output: { value: 'FILE', short: 'o', description: 'pcap file (default: standard output)', isFile: true },
    seconds: { value: 'N', description: 'End after this time' },
    bytes: { value: 'N', description: 'End before the file is longer' },
    before: { description: 'Frames as they come in, before the filters of the link' },
    ...options,
  },
  agent: { effect: 'changes', options: ['seconds', 'bytes', 'before', 'project'] },
  examples: [
    { line: 'patchbay lab capture R1-R2 -o r1r2.pcap --seconds 10', does: 'Ten seconds into a file' },
    { line: 'patchbay lab capture R1:eth0 | wireshark -k -i -', does: 'Live in Wireshark' },
  ],
  run: async (call) => {
    const { api, out, signal } = call;
    const [word] = call.args;
    if (word === undefined) throw new CliUsageError('which link? Name it as R1-R2 or R1:eth0');
    const file = textOption(call, 'output');
    if (file === undefined && process.stdout.isTTY)
      throw new CliUsageError('a capture is not for the terminal: name a file with -o, or pipe it');
    const parts = await readParts(api, await projectOf(call));
    const link = getLink(parts, word);
    const path = `${parts.path}/links/${link.link_id}/captures`;
    const limit = (name: string) => {
      const text = textOption(call, name);
      if (text !== undefined && !/^\d{1,12}$/.test(text)) throw new CliUsageError(`--${name} takes a number, not "${text}"`);
      return text === undefined ? undefined : Number(text);
    };
    const [max_seconds, max_bytes] = [limit('seconds'), limit('bytes')];
    const { capture_id } = await api.json<{ capture_id: string }>('POST', path, {
      ...(max_seconds !== undefined && { max_seconds }),
      ...(max_bytes !== undefined && { max_bytes }),
      ...(call.options.before === true && { side: 'before' }),
    });
    // Ctrl-C ends the capture at the server, which completes the file: the request for the stream is not aborted.
    const stop = () =>
      api
        .withoutSignal()
        .json('DELETE', `${path}/${capture_id}`)
        .catch(() => undefined);
    signal.addEventListener('abort', () => void stop());
    out.note(`Capturing ${linkName(parts, link)}. Ctrl-C ends it.`);
    try {
      const { body } = await api.withoutSignal().send('GET', `${path}/${capture_id}/pcap`);
      const frames = Readable.fromWeb(body as unknown as ReadableStream);
      await pipeline(frames, file === undefined ? process.stdout : createWriteStream(file), { end: file !== undefined });
    } finally {
      await stop();
    }
    return 0;
  },
};

export const consoleCommands = [consoleCommand, execCommand, captureCommand];
