/** A list of objects as a table: the ports of a switch, the adapters of a machine. */

import { type PropertySchema, wordsOf } from '../catalog/kind-schema.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { useDraft } from '../ui/draft.ts';
import { Failure } from '../ui/failure.tsx';
import { rowKey } from './rebase.ts';

interface RowsFieldProps {
  readonly label: string;
  readonly schema: PropertySchema;
  readonly rows: readonly unknown[];
  readonly change: (rows: readonly unknown[]) => unknown;
  readonly failure?: string | undefined;
}

type Row = Readonly<Record<string, unknown>>;

export function RowsField({ label, schema, rows, change, failure }: RowsFieldProps) {
  const columns = columnsOf(schema, rows as Row[]);
  const names = Object.keys(columns);
  const set = (place: number, name: string, value: unknown) =>
    change(rows.map((row, at) => (at === place ? { ...(row as Row), [name]: value } : row)));
  const add = () => change([...rows, newRow(columns, rows as Row[])]);
  return (
    <fieldset class="rows">
      <legend>{label}</legend>
      {rows.length > 0 && (
        <table>
          <thead>
            <tr>
              {names.map((name) => (
                <th key={name}>{texts.properties[name] ?? wordsOf(name)}</th>
              ))}
              <th />
            </tr>
          </thead>
          <tbody>
            {(rows as Row[]).map((row, place) => (
              <tr key={rowKey(row, place)}>
                {names.map((name) => (
                  <td key={name}>
                    <Cell name={name} schema={columns[name] ?? {}} value={row[name]} change={(value) => set(place, name, value)} />
                  </td>
                ))}
                <td>
                  <Button
                    icon="trash"
                    kind="quiet"
                    label={texts.removeRow}
                    onClick={() => change(rows.filter((_, at) => at !== place))}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Failure text={failure} />
      <Button icon="plus" onClick={add}>
        {texts.addRow}
      </Button>
    </fieldset>
  );
}

/** All columns of the forms that a row may have. */
function columnsOf(schema: PropertySchema, rows: readonly Row[]): Readonly<Record<string, PropertySchema>> {
  const forms = schema.anyOf ?? [schema];
  const known = Object.assign({}, ...forms.map(({ properties }) => properties ?? {})) as Record<string, PropertySchema>;
  const kinds = forms.flatMap(({ properties }) => properties?.type?.enum ?? properties?.type?.const ?? []);
  if (kinds.length > 0) known.type = { enum: [...new Set(kinds)] };
  if (Object.keys(known).length > 0) return known;
  return Object.fromEntries(
    Object.entries(rows[0] ?? {}).map(([key, value]) => [key, { type: typeof value === 'number' ? 'integer' : 'string' }]),
  );
}

/** Copies the last row with the next number. */
function newRow(columns: Readonly<Record<string, PropertySchema>>, rows: readonly Row[]): Row {
  const last = rows.at(-1);
  const number = 'port_number' in columns ? 'port_number' : 'adapter_number';
  const next = 1 + Math.max(-1, ...rows.map((row) => Number(row[number] ?? -1)));
  const row: Record<string, unknown> = { ...last };
  if (number in columns) row[number] = next;
  if ('name' in columns) row.name = typeof last?.name === 'string' ? last.name.replace(/\d+$/, String(next)) : `Ethernet${next}`;
  for (const [name, { enum: words }] of Object.entries(columns)) if (words && row[name] === undefined) row[name] = words[0];
  return row;
}

function Cell({
  name,
  schema,
  value,
  change,
}: {
  name: string;
  schema: PropertySchema;
  value: unknown;
  change: (value: unknown) => void;
}) {
  const label = wordsOf(name);
  const draft = useDraft(value === undefined || value === null ? '' : String(value));
  if (schema.enum)
    return (
      <select aria-label={label} value={String(value ?? '')} onChange={({ currentTarget }) => change(currentTarget.value)}>
        {schema.enum.map((word) => (
          <option key={String(word)} value={String(word)}>
            {String(word)}
          </option>
        ))}
      </select>
    );
  const isNumber = schema.type === 'integer' || schema.type === 'number';
  return (
    <input
      aria-label={label}
      {...(isNumber ? { type: 'number', min: schema.minimum, max: schema.maximum } : {})}
      {...draft}
      onChange={({ currentTarget }) => change(isNumber ? currentTarget.valueAsNumber : currentTarget.value)}
    />
  );
}
