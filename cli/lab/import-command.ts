/** `lab import`: converts labs of other programs to lab files. */
import { constants } from 'node:fs';
import { copyFile, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { NodeReport } from '../../lab/import/foreign-lab.ts';
import { type ForeignProgram, foreignPrograms, importLab } from '../../lab/import/import-lab.ts';
import { isReallyBelow } from '../../src/lib/inside.ts';
import { type CliCommand, CliUsageError, serverOptions, textOption } from '../command.ts';
import { tableLines } from '../output.ts';

export const importCommand: CliCommand = {
  name: 'lab import',
  args: 'FILE',
  takesFiles: true,
  isLocal: true,
  summary:
    'Turn a lab of containerlab, EVE-NG, CML or netlab into a lab file, with a report of what was taken, changed and is missing',
  options: {
    from: { value: 'PROGRAM', description: `${foreignPrograms.join(', ')} (default: by the file)` },
    output: { value: 'FILE', short: 'o', description: 'Write the lab file here (default: standard output)', isFile: true },
    json: serverOptions.json,
  },
  agent: { effect: 'reads', options: ['from'] },
  examples: [
    { line: 'patchbay lab import clos.clab.yml -o lab.yaml', does: 'A topology of containerlab' },
    { line: 'patchbay lab import old.unl --from eve-ng -o lab.yaml', does: 'A lab of EVE-NG' },
  ],
  run: async (call) => {
    const [file] = call.args;
    if (file === undefined) throw new CliUsageError('which file? patchbay lab import FILE');
    const from = textOption(call, 'from');
    const program = foreignPrograms.find((one) => one === from);
    if (from !== undefined && !program) throw new CliUsageError(`--from takes ${foreignPrograms.join(', ')}, not "${from}"`);
    const imported = importLab(await readFile(file, 'utf8'), basename(file), program as ForeignProgram | undefined);
    const { text, files = [] } = imported;
    const output = textOption(call, 'output');
    if (output !== undefined) {
      await mkdir(dirname(output), { recursive: true });
      await writeFile(output, text);
    }
    const lacking = await bringFiles(files, dirname(file), output === undefined ? undefined : dirname(output));
    const report =
      lacking.length === 0 ? imported.report : [...imported.report, { node: '(files)', taken: [], changed: [], missing: lacking }];
    if (call.out.isJson) call.out.json({ ...(output === undefined && { lab: text }), report });
    else {
      if (output === undefined) call.out.write(text);
      for (const line of reportLines(report)) call.out.note(line);
    }
    return 0;
  },
};

/**
 * Copies the files that a lab file names to its folder, when that is another one. A file that is there already stays. A file outside of the
 * folder of the imported file, also by way of a symbolic link, is not read: the lab may be another user's.
 * @returns files that were not found or copied, with the reason
 */
async function bringFiles(files: readonly string[], from: string, to: string | undefined): Promise<string[]> {
  const lacking: string[] = [];
  for (const file of files) {
    const source = resolve(from, file);
    if (!(await isReallyBelow(resolve(from), source))) {
      lacking.push(`${file}: it is outside of the folder of the imported file`);
      continue;
    }
    const isThere = await stat(source).then(
      (facts) => facts.isFile(),
      () => false,
    );
    if (!isThere) lacking.push(`${file}: there is no such file, put it there`);
    else if (to !== undefined && resolve(to) !== resolve(from)) {
      const problem = await copyBeside(source, resolve(to, file)).catch((error: Error) => error.message);
      if (problem !== undefined) lacking.push(`${file}: ${problem}`);
    }
  }
  return lacking;
}

/** Copies a file. @returns why it was not copied; undefined: the file is there */
async function copyBeside(source: string, target: string): Promise<string | undefined> {
  await mkdir(dirname(target), { recursive: true });
  try {
    await copyFile(source, target, constants.COPYFILE_EXCL);
    return undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const isSame = (await readFile(source)).equals(await readFile(target));
  return isSame ? undefined : `another file has this name in ${dirname(target)}`;
}

export function reportLines(report: readonly NodeReport[]): string[] {
  const rows = report.map(({ node, taken, changed, missing }) => [node, taken.join(', '), changed.join('; '), missing.join('; ')]);
  return tableLines([['NODE', 'TAKEN', 'CHANGED', 'MISSING'], ...rows]);
}
