/** Reads rows of a SQLite file that may be hostile, with their types checked. */
import type { DatabaseSync } from 'node:sqlite';

/** The file cannot be imported. Nothing was changed. */
export class ImportRefused extends Error {
  override readonly name = 'ImportRefused';
}

const mostTables = 500;
const mostRows = 20_000;
/** Longest text of an account. Characters. */
const longestText = 1_000;

/** Returns the columns of each table. Views, virtual tables, and tables with computed columns, run code of the file: they are left out. */
export function columnsOfTables(database: DatabaseSync): Map<string, string[]> {
  const listed = database.prepare('SELECT name, type, sql FROM sqlite_master LIMIT ?').all(mostTables * 10 + 1);
  if (listed.length > mostTables * 10) throw new ImportRefused('The file has too many tables and indexes');
  const names = listed
    .filter(({ type, sql }) => type === 'table' && typeof sql === 'string' && !/^\s*create\s+virtual\b/i.test(sql))
    .map(({ name }) => String(name));
  if (names.length > mostTables) throw new ImportRefused(`The file has more than ${mostTables} tables`);
  const columns = database.prepare('SELECT name, hidden FROM pragma_table_xinfo(?) LIMIT 2000');
  const found = names.map((table) => [table, columns.all(table)] as const);
  return new Map(
    found
      .filter(([, all]) => all.every(({ hidden }) => hidden === 0))
      .map(([table, all]) => [table, all.map(({ name }) => String(name))]),
  );
}

/** @throws ImportRefused for too many rows */
export function rowsOf(database: DatabaseSync, [table, columns]: readonly [string, readonly string[]]): SqlRow[] {
  const select = columns.map(quoted).join(', ');
  const rows = database.prepare(`SELECT ${select} FROM ${quoted(table)} LIMIT ${mostRows + 1}`).all();
  if (rows.length > mostRows) throw new ImportRefused(`The table ${shown(table)} has more than ${mostRows} rows`);
  return rows.map((values, index) => new SqlRow(values, columns, `row ${index + 1} of ${shown(table)}`));
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const shown = (name: string): string => JSON.stringify(name.slice(0, 50));

/** Row of a table. The getters throw ImportRefused for a value of another type. */
export class SqlRow {
  readonly columns: readonly string[];
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #place: string;

  constructor(values: Readonly<Record<string, unknown>>, columns: readonly string[], place: string) {
    this.#values = values;
    this.columns = columns;
    this.#place = place;
  }

  text(column: string): string {
    const value = this.#values[column];
    if (typeof value !== 'string' || value.length > longestText || /\p{Cc}/u.test(value))
      throw this.wrong(column, `a text of up to ${longestText} characters without control characters`);
    return value;
  }

  textOrNull(column: string): string | null {
    return this.#isNull(column) ? null : this.text(column);
  }

  flag(column: string): boolean {
    const value = this.#values[column];
    if (value !== 0 && value !== 1) throw this.wrong(column, '0 or 1');
    return value === 1;
  }

  /** Returns a UUID with dashes; the file has them without. */
  id(column: string): string {
    const digits = String(this.#values[column] ?? '')
      .replaceAll('-', '')
      .toLowerCase();
    if (!/^[0-9a-f]{32}$/.test(digits)) throw this.wrong(column, 'a UUID');
    return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  }

  idOrNull(column: string): string | null {
    return this.#isNull(column) ? null : this.id(column);
  }

  wrong(column: string, expected: string): ImportRefused {
    return new ImportRefused(`${column} in ${this.#place} is not ${expected}. Nothing was imported`);
  }

  #isNull(column: string): boolean {
    return (this.#values[column] ?? null) === null;
  }
}
