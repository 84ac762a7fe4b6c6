/** Chooses the importer of a file. */
import { LabError } from '../file/lab-error.ts';
import { importCml } from './cml.ts';
import { importContainerlab } from './containerlab.ts';
import { importEve } from './eve.ts';
import type { ImportedLab } from './foreign-lab.ts';
import { importNetlab } from './netlab.ts';

export const foreignPrograms = ['containerlab', 'eve-ng', 'cml', 'netlab'] as const;
export type ForeignProgram = (typeof foreignPrograms)[number];

const importers = {
  containerlab: importContainerlab,
  'eve-ng': importEve,
  cml: importCml,
  netlab: importNetlab,
} as const satisfies Record<ForeignProgram, (text: string, file: string) => ImportedLab>;

/** Imports a lab. @throws LabError with the place of the fault */
export function importLab(text: string, file: string, program: ForeignProgram = programOf(text, file)): ImportedLab {
  return importers[program](text, file);
}

/** Recognizes the program by the first words of the file. */
function programOf(text: string, file: string): ForeignProgram {
  if (/^\s*(<\?xml|<lab)/.test(text)) return 'eve-ng';
  if (/\bnode_definition"?\s*:/.test(text)) return 'cml';
  if (/(?:^|[{,])\s*"?topology"?\s*:/m.test(text)) return 'containerlab';
  if (/\b(device|provider|module)"?\s*:/.test(text)) return 'netlab';
  if (/^\s*\[\[router\s/im.test(text))
    throw new LabError(
      `${file} is a topology of Dynagen, as GNS3 wrote before version 1. Convert it with gns3-converter, and open the project that it makes`,
    );
  throw new LabError(`${file} is of no program that is known. Name it with --from: ${foreignPrograms.join(', ')}`);
}
