/** `patchbay mcp`: serves the Model Context Protocol over standard input and output. Only this file loads its library. */
import { fromJsonSchema, McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { LabError } from '../../lab/file/lab-error.ts';
import { version } from '../../src/version.ts';
import type { CliCommand } from '../command.ts';
import { type ServerAddress, ServerClient } from '../server-client.ts';
import { type ResourceKind, resourceKinds } from './resources.ts';
import type { ToolInput } from './tool-input.ts';
import { type AgentTool, AgentTools } from './tools.ts';

interface McpOptions {
  readonly address: ServerAddress;
  readonly commands: readonly CliCommand[];
  readonly allowChanges: boolean;
  readonly signal: AbortSignal;
}

/** Runs the server; resolves when the client has closed its end. */
export async function serveMcp({ address, commands, allowChanges, signal }: McpOptions): Promise<void> {
  const server = new McpServer({ name: 'patchbay', version }, { instructions: instructionsOf(address, allowChanges) });
  for (const tool of new AgentTools(address).all(commands, allowChanges)) addTool(server, tool);
  const graph = commands.find(({ name }) => name === 'lab graph');
  if (!graph) throw new Error('there is no command `lab graph`');
  for (const kind of resourceKinds(new ServerClient(address, signal), graph)) addResources(server, kind);
  const closed = new Promise<void>((resolve) => {
    server.server.onclose = resolve;
    signal.addEventListener('abort', () => resolve(), { once: true });
    process.stdin.once('end', () => resolve());
  });
  await server.connect(new StdioServerTransport());
  await closed;
  await server.close();
}

function instructionsOf({ url }: ServerAddress, allowChanges: boolean): string {
  const changes = allowChanges
    ? 'A tool that changes something shows a preview first; call it again with the token to do it. `undo` reverts a change as one step.'
    : 'These tools only read: the user starts `patchbay mcp --allow-changes` for others.';
  return `Patchbay at ${url} emulates networks: projects have nodes and links, and lab files describe them (patchbay://docs/lab-file.md). ${changes}`;
}

function addTool(server: McpServer, { name, description, schema, effect, call }: AgentTool): void {
  const annotations = { readOnlyHint: effect === 'reads', destructiveHint: effect === 'changes', openWorldHint: false };
  const inputSchema = fromJsonSchema<ToolInput>(schema);
  server.registerTool(name, { description, inputSchema, annotations }, async (input, { mcpReq }) => {
    const { text, isError } = await call(input, mcpReq.signal);
    return { content: [{ type: 'text', text }], isError };
  });
}

function addResources(server: McpServer, kind: ResourceKind): void {
  const { name, description, mimeType, variable } = kind;
  const complete = async (typed: string) => (await kind.values()).filter((value) => value.startsWith(typed));
  const template = new ResourceTemplate(kind.template, {
    list: async () => ({ resources: await kind.list() }),
    complete: { [variable]: complete },
  });
  server.registerResource(name, template, { description, mimeType }, async (uri, variables) => {
    const value = variables[variable];
    if (typeof value !== 'string') throw new LabError(`${uri.href} is not a resource`);
    return { contents: [{ uri: uri.href, mimeType, text: await kind.read(decodeURIComponent(value)) }] };
  });
}
