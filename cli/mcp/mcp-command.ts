/** `patchbay mcp`: offers the commands as tools for agents. */
import { serverAddress } from '../address.ts';
import { type CliCommand, CliUsageError, serverOptions, textOption } from '../command.ts';

/** `commands`: returns the existing commands when the command is run. */
export function mcpCommand(commands: () => readonly CliCommand[]): CliCommand {
  return {
    name: 'mcp',
    args: '',
    isLocal: true,
    summary:
      'Give agents the commands of labs as tools, over the Model Context Protocol on standard input and output; read-only by default',
    options: {
      'allow-changes': { description: 'Tools that change something, each with a preview and with `undo`' },
      folder: {
        value: 'FOLDER',
        description: 'The folder of lab files; no others are read (default: the current one)',
        isFile: true,
      },
      url: serverOptions.url,
      user: serverOptions.user,
    },
    examples: [
      { line: 'patchbay mcp', does: 'Read-only tools for the server at $PATCHBAY_URL' },
      { line: 'patchbay mcp --allow-changes --folder ~/labs', does: 'Agents may change labs, after a preview' },
    ],
    run: async (call) => {
      if (call.args.length > 0) throw new CliUsageError('it takes no arguments');
      const folder = textOption(call, 'folder');
      if (folder !== undefined) process.chdir(folder);
      const address = await serverAddress({ url: textOption(call, 'url'), user: textOption(call, 'user') });
      // The library is loaded for this command only: 17 MB on disk that no other start reads.
      const { serveMcp } = await import('./serve-mcp.ts');
      await serveMcp({ address, commands: commands(), allowChanges: call.options['allow-changes'] === true, signal: call.signal });
      return 0;
    },
  };
}
