/** Parses a command's output as a table, by the platform's description: JSONPaths for JSON, regular expressions for text. */
import { jsonpath } from 'json-p3';
import { type JsonValue, parseJsonOutput } from '../definition/json-output.ts';
import type { TableResult, TableRow } from '../definition/tables.ts';

/** Description of a table in a platform file. */
export interface TableForm {
  /** JSON: a JSONPath that selects the rows. Text: a regular expression that matches each; without it the output is one row. */
  readonly rows?: string | undefined;
  readonly entry?: string | undefined;
  /**
   * Columns: a path in the row, `{key}` for the row's name in the table, or for text a regular expression whose group is the value.
   */
  readonly columns: Readonly<Record<string, string | readonly string[]>>;
}

export function readTable(form: TableForm, output: string): TableResult {
  return { rows: form.rows === undefined ? textRows(form, output) : jsonRows(form, form.rows, output) };
}

/** Reads the rows of JSON output. Other output has no rows: an empty table may be printed as a sentence. */
function jsonRows({ columns }: TableForm, rows: string, output: string): TableRow[] {
  const document = parseJsonOutput(output);
  if (document === undefined) return [];
  return Array.from(jsonpath.query(rows, document.json), ({ value, location }) =>
    mapColumns(columns, (path) =>
      path === '{key}'
        ? [String(location.at(-1) ?? '')]
        : jsonpath
            .query(path, value as JsonValue)
            .values()
            .map(textOf),
    ),
  );
}

function textRows({ entry, columns }: TableForm, output: string): TableRow[] {
  const entries = entry === undefined ? [output] : Array.from(output.matchAll(new RegExp(entry, 'gm')), ([text]) => text);
  return entries.map((text) =>
    mapColumns(columns, (pattern) => Array.from(text.matchAll(new RegExp(pattern, 'gm')), (match) => match[1] ?? '')),
  );
}

function mapColumns(columns: TableForm['columns'], read: (source: string) => string[]): TableRow {
  return Object.fromEntries(
    Object.entries(columns).map(([name, sources]) => [name, [sources].flat().flatMap((source) => read(source))]),
  );
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
