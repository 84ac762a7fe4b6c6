/** Prints the output of the command line: tables and colours for users, JSON for programs. */
import { styleText } from 'node:util';
import type { CliOutput } from './command.ts';

export function terminalOutput(isJson: boolean): CliOutput {
  const isColoured = process.stdout.isTTY === true && !process.env.NO_COLOR;
  const write = (text: string): void => {
    process.stdout.write(text);
  };
  const print = (line: string): void => write(`${line}\n`);
  return {
    isJson,
    print,
    write,
    json: (value) => print(JSON.stringify(value, null, 2)),
    note: (line) => void process.stderr.write(`${line}\n`),
    style: (style, text) => (isColoured ? styleText(style, text) : text),
    table: (columns, rows) => {
      for (const line of tableLines([columns.map((column) => column.toUpperCase()), ...rows])) print(line);
    },
  };
}

/** Formats columns as wide as their longest text. Control characters in names become dots. */
export function tableLines(rows: readonly (readonly string[])[]): string[] {
  const clean = rows.map((row) => row.map((text) => text.replaceAll(/\p{Cc}/gu, '·')));
  const widths = clean.reduce<number[]>((most, row) => row.map((text, index) => Math.max(most[index] ?? 0, text.length)), []);
  return clean.map((row) =>
    row
      .map((text, index) => text.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
