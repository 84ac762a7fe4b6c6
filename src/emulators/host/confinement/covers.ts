/**
 * Covers without bubblewrap: a user without privileges reaches files although a folder above them is closed to it, as `/root` is. In a mount
 * namespace of the program, a folder of mount points covers the closed one, with only the wanted files in it. Nothing changes on the host.
 */
import { dirname, join, relative } from 'node:path';
import { isBelow } from '../../../lib/inside.ts';
import type { RootFolder } from '../../../process/bubblewrap/bubblewrap.ts';
import { quoteWord } from './shell-text.ts';

interface StartedCommand {
  readonly program: string;
  readonly args: readonly string[];
}

/**
 * Wraps a command so that it runs with the closed folders covered: a shell makes the mounts on `stage`, then becomes the command. Only root
 * can.
 */
export function withCovers(
  { reads, writes, coversHost = [] }: RootFolder,
  stage: string,
  { program, args }: StartedCommand,
): StartedCommand & { args: string[] } {
  if (coversHost.length === 0) return { program, args: [...args] };
  // A folder comes before what lies in it. Once the folder that holds the stage is covered, the other covers cannot be found any more.
  const paths = [...new Set([...reads, ...writes])].toSorted();
  const covers = coversHost.toSorted((one, other) => Number(isBelow(one, stage)) - Number(isBelow(other, stage)));
  const script = [
    `mount -t tmpfs -o mode=0755,nosuid,nodev tmpfs ${quoteWord(stage)}`,
    ...covers.flatMap((above, index) => coverCommands(above, join(stage, String(index)), paths)),
    ...covers.map((above, index) => `mount --rbind ${quoteWord(join(stage, String(index)))} ${quoteWord(above)}`),
    'exec "$@"',
  ].join(' && ');
  return { program: 'unshare', args: ['--mount', '--', 'sh', '-c', script, 'sh', program, ...args] };
}

function coverCommands(above: string, cover: string, paths: readonly string[]): string[] {
  const wanted = paths.filter((path) => isBelow(above, path));
  const outermost = wanted.filter((path) => !wanted.some((other) => isBelow(other, path)));
  return outermost.flatMap((path) => {
    const [source, target] = [quoteWord(path), join(cover, relative(above, path))];
    const [point, folder] = [quoteWord(target), quoteWord(dirname(target))];
    return [
      `mkdir -p -m 0755 -- ${folder}`,
      `if test -d ${source}; then mkdir ${point}; else : > ${point}; fi`,
      `mount --bind ${source} ${point}`,
    ];
  });
}
