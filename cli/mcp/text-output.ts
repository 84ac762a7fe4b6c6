/** Collects a command's output as the text of a tool's result: without colours, and limited in length. */
import type { CliOutput } from '../command.ts';
import { tableLines } from '../output.ts';

/** Longest result, characters. */
const longestResult = 50_000;

export class TextOutput implements CliOutput {
  readonly isJson = false;
  #text = '';
  /** Characters of all lines. */
  #length = 0;

  print(line: string): void {
    this.write(`${line}\n`);
  }

  write(text: string): void {
    this.#length += text.length;
    if (this.#text.length < longestResult) this.#text += text.slice(0, longestResult - this.#text.length);
  }

  json(value: unknown): void {
    this.print(JSON.stringify(value, null, 2));
  }

  note(line: string): void {
    this.print(line);
  }

  style(_style: string, text: string): string {
    return text;
  }

  table(columns: readonly string[], rows: readonly (readonly string[])[]): void {
    for (const line of tableLines([columns.map((column) => column.toUpperCase()), ...rows])) this.print(line);
  }

  get text(): string {
    const missing = this.#length - this.#text.length;
    return missing > 0
      ? `${this.#text}\n… ${missing} more characters are left out. Name one project, node or link to see less.`
      : this.#text.trimEnd();
  }
}

/** Shortens a text to the longest result. */
export function boundedText(text: string): string {
  const output = new TextOutput();
  output.write(text);
  return output.text;
}
