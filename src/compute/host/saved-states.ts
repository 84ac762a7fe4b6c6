/**
 * States of a project's nodes from which these continue at their next start: one file for all that live in the fabric, a line each. A file for
 * each of a thousand nodes would cost more than all else of a fork. Machines have folders of their own (`savedMemoryName`).
 */
import { open, rm } from 'node:fs/promises';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { LineSplitter } from '../../lib/line-splitter.ts';
import { openRegular } from '../../lib/regular-file.ts';
import { Turns } from '../../lib/turns.ts';

export interface SavedState {
  /** Kind of the node. */
  readonly type: string;
  /** JSON. */
  readonly text: string;
}

/** States by node id in lower case. */
export type StateMap = ReadonlyMap<string, SavedState>;

/** Longest line of the file: id and kind of the node, and its state. */
const longestLine = 4 << 20;
/** Bytes of lines that are written at a time. */
const pieceBytes = 1 << 20;
const line = /^([0-9a-f-]{36}) ([a-z_]+) (\{.*\})$/;

/** Reads a file of states; one that does not exist has none. @throws when a line of it is damaged, and errors of the system */
export async function readStates(path: string): Promise<Map<string, SavedState>> {
  const states = new Map<string, SavedState>();
  const opened = await openRegular(path, { noFollow: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (!opened) return states;
  const damaged = () => new Error(`${path} is damaged in line ${states.size + 1}`);
  const lines = new LineSplitter((text) => {
    const [, id = '', type = '', state] = (text.length <= longestLine && line.exec(text)) || [];
    if (state === undefined) throw damaged();
    states.set(id, { type, text: state });
  });
  let end = 10;
  for await (const chunk of opened.file.createReadStream() as AsyncIterable<Buffer>) {
    lines.add(chunk);
    end = chunk.at(-1) ?? end;
  }
  // A torn last line.
  if (end !== 10) throw damaged();
  return states;
}

/** Creates a file of states and makes its content durable. @throws when it exists, and errors of the system */
export async function writeStates(path: string, states: StateMap): Promise<void> {
  await using file = await open(path, 'wx', 0o600);
  for (const piece of await piecesOf(states)) await file.writeFile(piece);
  await file.sync();
}

async function piecesOf(states: StateMap): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  const turns = new Turns();
  let text = '';
  for (const [id, state] of states) {
    text += `${id} ${state.type} ${state.text}\n`;
    if (text.length < pieceBytes) continue;
    pieces.push(Buffer.from(text));
    text = '';
    if (turns.isOver) await turns.next();
  }
  pieces.push(Buffer.from(text));
  return pieces;
}

/** The states that wait in a project's folder. A node has its state until it has continued from it, or is stopped. */
export class SavedStates {
  readonly #path: () => string;
  #states: Promise<Map<string, SavedState>> | undefined;
  #writing: Promise<void> = Promise.resolve();
  /** The write that has not begun. */
  #next: Promise<void> | undefined;

  constructor(path: () => string) {
    this.#path = path;
  }

  /** @throws when the file cannot be read */
  async find(nodeId: string): Promise<SavedState | undefined> {
    return (await this.#read()).get(nodeId.toLowerCase());
  }

  /** The node does not continue from it any more; durable. A file that cannot be read is removed. @throws errors of the system */
  async drop(nodeId: string): Promise<void> {
    const states = await this.#read().catch(() => undefined);
    if (states && !states.delete(nodeId.toLowerCase())) return;
    if (!states) this.#states = Promise.resolve(new Map());
    this.#next ??= this.#write();
    await this.#next;
  }

  /** The file is another one. */
  reset(): void {
    this.#states = undefined;
  }

  #read(): Promise<Map<string, SavedState>> {
    this.#states ??= readStates(this.#path());
    return this.#states;
  }

  /** Nodes that are dropped in one turn of the loop share a write. */
  async #write(): Promise<void> {
    await new Promise(setImmediate);
    await this.#writing;
    this.#next = undefined;
    const states = await this.#read();
    const written =
      states.size === 0
        ? rm(this.#path(), { force: true })
        : piecesOf(states).then((pieces) => writeFileAtomic(this.#path(), pieces, 0o600));
    this.#writing = written.catch(() => undefined);
    await written;
  }
}
