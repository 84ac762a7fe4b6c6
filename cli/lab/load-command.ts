/** `patchbay lab load`: opens a project by its file on the server, or a copy of it. */
import { resolve } from 'node:path';
import type { Project } from '../../src/schema/project.ts';
import { type CliCommand, CliUsageError, serverOptions } from '../command.ts';

export const loadCommand: CliCommand = {
  name: 'lab load',
  args: 'FILE',
  summary: 'Open a project by its .gns3 file on the machine of a local server',
  takesFiles: true,
  options: {
    ...serverOptions,
    copy: { description: 'Open a copy with new ids, in the projects folder: for a second copy of a project' },
  },
  examples: [
    { line: 'patchbay lab load ~/labs/ring/ring.gns3', does: 'The project of this file' },
    { line: 'patchbay lab load ~/old/ring/ring.gns3 --copy', does: 'A new project with its content; the folder stays as it is' },
  ],
  run: async ({ api, out, args: [file, ...more], options }) => {
    if (file === undefined || more.length > 0) throw new CliUsageError('name one project file');
    const body = { path: resolve(file), ...(options.copy === true && { copy: true }) };
    const project = await api.json<Project>('POST', '/v2/projects/load', body);
    if (out.isJson) out.json(project);
    else out.print(`${project.name}: ${project.path}`);
    return 0;
  },
};
