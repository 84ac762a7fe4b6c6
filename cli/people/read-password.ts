/** Reads a password: from the terminal without echo, twice, or as the first line of standard input. Never from the command line. */
import type { ReadStream } from 'node:tty';
import { CliUsageError } from '../command.ts';

/** Longest line that is read, characters. */
const longestLine = 1_000;
const interrupt = '\x03';
const lineEnds = ['\r', '\n', '\x04'];
const erasers = ['\b', '\x7f'];

/** @throws CliUsageError when there is none, or the second one differs */
export async function readPassword(name: string): Promise<string> {
  const { stdin } = process;
  if (!stdin.isTTY) return firstLine(stdin);
  const first = await askHidden(stdin, `Password of ${name}: `);
  const second = await askHidden(stdin, 'Once more: ');
  if (first !== second) throw new CliUsageError('the two passwords differ: nothing was changed');
  return first;
}

async function firstLine(input: AsyncIterable<Buffer | string>): Promise<string> {
  let text = '';
  for await (const piece of input) {
    text += String(piece);
    if (text.includes('\n') || text.length > longestLine) break;
  }
  const [line = ''] = text.split(/\r?\n/, 1);
  return checked(line);
}

function askHidden(terminal: ReadStream, question: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = '';
  const onData = (piece: string): void => {
    const characters = [...piece];
    for (const [index, character] of characters.entries()) {
      if (lineEnds.includes(character)) {
        // A pasted text may hold the second line, too.
        end(() => resolve(checked(text)), characters.slice(index + 1).join(''));
        break;
      }
      if (character === interrupt) {
        end(() => reject(new DOMException('interrupted', 'AbortError')));
        break;
      }
      if (erasers.includes(character)) text = [...text].slice(0, -1).join('');
      else if (text.length < longestLine) text += character;
    }
  };
  const end = (settle: () => void, rest = ''): void => {
    terminal.off('data', onData).setRawMode(false).pause();
    if (rest !== '') terminal.unshift(rest);
    process.stderr.write('\n');
    try {
      settle();
    } catch (error) {
      reject(error);
    }
  };
  terminal.setEncoding('utf8').setRawMode(true).resume().on('data', onData);
  process.stderr.write(question);
  return promise;
}

/** @throws CliUsageError */
function checked(text: string): string {
  if (text === '') throw new CliUsageError('no password was given: type it, or send it to standard input');
  return text;
}
