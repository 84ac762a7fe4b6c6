/** The shells of nodes during a test: opened on demand, one command at a time, each with a dialogue for the report. */
import type { CommandShell } from '../console/command-shell.ts';
import { Dialogue } from '../console/dialogue.ts';
import type { StepWay } from '../definition/step-schema.ts';

export interface ShellPlace {
  readonly node: string;
  readonly by: StepWay;
}

export class NodeShells {
  readonly dialogues: Dialogue[] = [];
  readonly #open: (place: ShellPlace, dialogue: Dialogue) => Promise<CommandShell>;
  readonly #now: () => number;
  readonly #shells = new Map<string, CommandShell>();
  /** Last command of each shell; the next one waits for it. */
  readonly #tails = new Map<string, Promise<unknown>>();

  /** `now`: ms since the beginning of the test. */
  constructor(now: () => number, open: (place: ShellPlace, dialogue: Dialogue) => Promise<CommandShell>) {
    this.#now = now;
    this.#open = open;
  }

  /** Uses a shell. A shell in which a command failed is abandoned; the next command gets a fresh one. */
  use<T>(place: ShellPlace, signal: AbortSignal, fn: (shell: CommandShell) => Promise<T>): Promise<T> {
    const key = nameOf(place);
    const before = this.#tails.get(key) ?? Promise.resolve();
    const turn = before.then(async () => {
      signal.throwIfAborted();
      const shell = this.#shells.get(key) ?? (await this.#open(place, this.#dialogue(key)));
      this.#shells.set(key, shell);
      return fn(shell);
    });
    this.#tails.set(
      key,
      turn.catch(() => {
        this.#shells.get(key)?.abandon();
        this.#shells.delete(key);
      }),
    );
    return turn;
  }

  /** Closes all shells of a node. */
  close(node: string): void {
    for (const by of ['console', 'container', 'ssh'] as const) {
      this.#shells.get(nameOf({ node, by }))?.close();
      this.#shells.delete(nameOf({ node, by }));
    }
  }

  closeAll(): void {
    for (const shell of this.#shells.values()) shell.close();
    this.#shells.clear();
  }

  #dialogue(name: string): Dialogue {
    const known = this.dialogues.find(({ node }) => node === name);
    if (known) return known;
    const dialogue = new Dialogue(name, this.#now);
    this.dialogues.push(dialogue);
    return dialogue;
  }
}

/** Names a shell for the report. */
function nameOf({ node, by }: ShellPlace): string {
  return by === 'console' ? node : `${node} (${by})`;
}
