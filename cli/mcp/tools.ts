/** Defines the tools of agents: one for each command that they may use, and `undo`. */
import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { LabError } from '../../lab/file/lab-error.ts';
import { isReallyBelow } from '../../src/lib/inside.ts';
import { Mutex } from '../../src/lib/mutex.ts';
import { type CliCall, type CliCommand, CliUsageError } from '../command.ts';
import { type ServerAddress, ServerClient } from '../server-client.ts';
import type { AgentChange, MadeChange, PlanChange } from './change.ts';
import { ChangeJournal } from './journal.ts';
import { explainClosed } from './plan-apply.ts';
import { changePlans } from './plan-changes.ts';
import { boundedText, TextOutput } from './text-output.ts';
import { callParts, filesOfCall, type ToolInput, type ToolSchema, toolName, toolSchema } from './tool-input.ts';

interface AgentAnswer {
  readonly text: string;
  readonly isError: boolean;
}

export interface AgentTool {
  readonly name: string;
  readonly description: string;
  readonly schema: ToolSchema;
  readonly effect: 'reads' | 'changes';
  /** Calls the tool. `input` has been validated by the schema. Never rejects. */
  call(input: ToolInput, signal: AbortSignal): Promise<AgentAnswer>;
}

const confirmProperty = {
  type: 'string',
  pattern: '^[0-9a-f]{12}$',
  description: 'The token of the preview of this same call. Without it, the call only shows what it would do',
};

export class AgentTools {
  readonly #address: ServerAddress;
  readonly #journal = new ChangeJournal();
  /** Serializes changes, because a preview must still hold when its change is made. */
  readonly #changes = new Mutex();

  constructor(address: ServerAddress) {
    this.#address = address;
  }

  /** Returns all tools; without `allowChanges`, only those that read. */
  all(commands: readonly CliCommand[], allowChanges: boolean): AgentTool[] {
    const reading = commands.filter(({ agent }) => agent?.effect === 'reads').map((command) => this.#reader(command));
    if (!allowChanges) return reading;
    const changing = commands.filter(({ agent }) => agent?.effect === 'changes').map((command) => this.#changer(command));
    return [...reading, ...changing, this.#undo()];
  }

  #reader(command: CliCommand): AgentTool {
    return {
      name: toolName(command),
      description: `${command.summary}.`,
      schema: toolSchema(command),
      effect: 'reads',
      call: (input, signal) =>
        answer(async () => {
          const out = new TextOutput();
          const code = await command.run(await this.#callOf(command, { input, signal, out }));
          return { text: out.text, isError: code !== 0 && !(command.agent?.results ?? []).includes(code) };
        }),
    };
  }

  #changer(command: CliCommand): AgentTool {
    const planner = changePlans[command.name]?.(command);
    if (!planner) throw new Error(`${command.name} has no preview`);
    return this.#previewed(
      {
        name: toolName(command),
        description: `${command.summary}. The first call shows a preview and a token; a second one with \`confirm\` does it.`,
        schema: toolSchema(command),
      },
      async (input, signal, client) => {
        const call = await this.#callOf(command, { input, signal, out: new TextOutput(), client });
        return planner(call, client);
      },
    );
  }

  #undo(): AgentTool {
    const schema: ToolSchema = {
      type: 'object',
      properties: { change: { type: 'string', maxLength: 100, description: 'Id of the change, as its result gave it' } },
      required: ['change'],
      additionalProperties: false,
    };
    const description = 'Undo a change that was made with these tools, as one step. The first call shows a preview and a token.';
    return this.#previewed({ name: 'undo', description, schema }, async ({ change }) => {
      const id = String(change);
      const made = this.#journal.findChange(id);
      if (!made) {
        const known = this.#journal.listChanges().slice(0, 20).join(', ');
        throw new CliUsageError(`there is no change "${id}" that can be undone. There are: ${known || 'none'}`);
      }
      return {
        preview: `Undoes ${made.what}: ${made.undo.does}`,
        undo: '',
        make: async () => {
          const text = await made.undo.run();
          this.#journal.deleteChange(id);
          return { text };
        },
      };
    });
  }

  /** Returns a tool that changes something only when the preview of the same call is confirmed. */
  #previewed(
    { name, description, schema }: Pick<AgentTool, 'name' | 'description' | 'schema'>,
    plan: (input: ToolInput, signal: AbortSignal, client: string) => ReturnType<PlanChange>,
  ): AgentTool {
    return {
      name,
      description,
      schema: { ...schema, properties: { ...schema.properties, confirm: confirmProperty } },
      effect: 'changes',
      call: ({ confirm, ...input }, signal) =>
        answer(() =>
          this.#changes.run(async () => {
            const client = `mcp-${randomBytes(4).toString('hex')}`;
            const call = JSON.stringify([name, Object.entries(input).toSorted()]);
            const change = await plan(input, signal, client);
            if (confirm === undefined) return this.#preview(change, call, 'Nothing is changed yet.');
            const shown = this.#journal.takePreview(String(confirm), call);
            if (!shown) return this.#preview(change, call, 'The token is of another call, used or old: nothing was changed.', true);
            if (shown.text !== change.preview)
              return this.#preview(change, call, 'The state has changed since the preview: nothing was changed.', true);
            return this.#finish(await change.make(), name, client);
          }),
        ),
    };
  }

  #preview({ preview, undo }: AgentChange, call: string, remark: string, isError = false): AgentAnswer {
    const token = this.#journal.addPreview({ call, text: preview });
    const next = `${remark} To do it, call again with the same arguments and "confirm": "${token}".`;
    return { text: [boundedText(preview), undo, next].filter(Boolean).join('\n\n'), isError };
  }

  #finish({ text, isError = false, undo }: MadeChange, tool: string, id: string): AgentAnswer {
    if (!undo) return { text: boundedText(text), isError };
    this.#journal.addChange(id, tool, undo);
    return { text: `${boundedText(text)}\n\nChange ${id}. The tool undo would ${undo.does}.`, isError };
  }

  async #callOf(
    command: CliCommand,
    { input, signal, out, client }: { input: ToolInput; signal: AbortSignal; out: TextOutput; client?: string },
  ): Promise<CliCall> {
    const folder = process.cwd();
    for (const path of filesOfCall(command, input)) {
      if (!(await isReallyBelow(folder, resolve(folder, path))))
        throw new CliUsageError(`${path} is outside of ${folder}, the folder of this server`);
    }
    const api = new ServerClient({ ...this.#address, ...(client !== undefined && { client }) }, signal);
    const { options, ...parts } = callParts(command, input);
    // The URL keeps `test` from starting its own server when this one does not answer.
    return { ...parts, options: { ...options, url: this.#address.url }, api, out, signal };
  }
}

async function answer(fn: () => Promise<AgentAnswer>): Promise<AgentAnswer> {
  try {
    return await fn();
  } catch (thrown) {
    const error = explainClosed(thrown);
    const isExpected = error instanceof LabError || error instanceof CliUsageError || error instanceof Error;
    return { text: boundedText(isExpected ? (error as Error).message : String(error)), isError: true };
  }
}
