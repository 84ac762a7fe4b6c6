/** `lab import`: converts labs of other programs to lab files. */
import { readFile, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { NodeReport } from '../../lab/import/foreign-lab.ts';
import { type ForeignProgram, foreignPrograms, importLab } from '../../lab/import/import-lab.ts';
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
    const { text, report } = importLab(await readFile(file, 'utf8'), basename(file), program as ForeignProgram | undefined);
    const output = textOption(call, 'output');
    if (output !== undefined) await writeFile(output, text);
    if (call.out.isJson) call.out.json({ ...(output === undefined && { lab: text }), report });
    else {
      if (output === undefined) call.out.write(text);
      for (const line of reportLines(report)) call.out.note(line);
    }
    return 0;
  },
};

export function reportLines(report: readonly NodeReport[]): string[] {
  const rows = report.map(({ node, taken, changed, missing }) => [node, taken.join(', '), changed.join('; '), missing.join('; ')]);
  return tableLines([['NODE', 'TAKEN', 'CHANGED', 'MISSING'], ...rows]);
}
