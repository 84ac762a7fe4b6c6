/** Lists all commands of the command line except those of the server itself. */

import { fieldTables, keyTables } from '../lab/field-tables.ts';
import { type CliCommand, CliUsageError } from './command.ts';
import { completionScript, shells } from './completion.ts';
import { applyCommands } from './lab/apply-commands.ts';
import { consoleCommands } from './lab/console-commands.ts';
import { importCommand } from './lab/import-command.ts';
import { loadCommand } from './lab/load-command.ts';
import { migrateCommand } from './lab/migrate-command.ts';
import { pingCommand } from './lab/ping-command.ts';
import { runCommand } from './lab/run-command.ts';
import { runCommands } from './lab/run-commands.ts';
import { warmCommands } from './lab/warm-commands.ts';
import { keepCommand } from './lab/warm-template-command.ts';
import { mcpCommand } from './mcp/mcp-command.ts';
import { aclCommands } from './people/acl-commands.ts';
import { groupCommands } from './people/group-commands.ts';
import { userCommands } from './people/user-commands.ts';
import { slicesCommands } from './slices-commands.ts';
import { bisectCommand } from './test/bisect-command.ts';
import { testCommand } from './test/test-command.ts';

/** Words that may follow `patchbay`. */
const firstWords = [
  ...['serve', 'compute', 'slices', 'images', 'doctor', 'openapi', 'configuration'],
  ...['lab', 'test', 'bisect', 'mcp', 'user', 'group', 'role', 'acl', 'completion'],
];

const completionCommand: CliCommand = {
  name: 'completion',
  args: shells.join('|'),
  isLocal: true,
  summary: 'Print the script that completes commands in a shell',
  options: {},
  examples: [
    { line: 'source <(patchbay completion bash)', does: 'In ~/.bashrc; the same with zsh in ~/.zshrc' },
    { line: 'patchbay completion fish | source', does: 'In ~/.config/fish/config.fish' },
  ],
  run: async ({ args: [shell] }) => {
    const known = shells.find((one) => one === shell);
    if (!known) throw new CliUsageError(`name a shell: ${shells.join(', ')}`);
    process.stdout.write(completionScript(known, cliCommands, firstWords));
    return 0;
  },
};

const fieldsCommand: CliCommand = {
  name: 'lab fields',
  args: '',
  isLocal: true,
  summary: 'Print the fields of lab files as Markdown',
  options: { import: { description: 'What becomes of the keys of other programs, in imports and exports' } },
  examples: [{ line: 'patchbay lab fields', does: 'The tables of docs/lab-file.md' }],
  run: async ({ options }) => {
    process.stdout.write(`${options.import === true ? keyTables() : fieldTables()}\n`);
    return 0;
  },
};

export const cliCommands: readonly CliCommand[] = [
  ...applyCommands,
  ...runCommands,
  ...consoleCommands,
  pingCommand,
  ...warmCommands,
  loadCommand,
  migrateCommand,
  keepCommand,
  runCommand,
  testCommand,
  bisectCommand,
  importCommand,
  fieldsCommand,
  ...slicesCommands,
  ...userCommands,
  ...groupCommands,
  ...aclCommands,
  mcpCommand(() => cliCommands),
  completionCommand,
];

/** Finds the command with which a line begins. */
export function findCommand(argv: readonly string[]): CliCommand | undefined {
  return cliCommands.find(({ name }) => name.split(' ').every((word, index) => argv[index] === word));
}
