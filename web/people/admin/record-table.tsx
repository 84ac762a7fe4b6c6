/** A table of records with their commands. */
import type { ComponentChildren } from 'preact';
import { texts } from '../../texts.ts';
import { MenuButton, type MenuEntry } from '../../ui/menu-button.tsx';

export interface RecordRow {
  readonly id: string;
  readonly name: string;
  readonly cells: readonly ComponentChildren[];
  readonly commands: readonly (MenuEntry | false)[];
}

interface RecordTableProps {
  readonly label: string;
  /** Titles of the name and the cells. */
  readonly columns: readonly string[];
  /** Undefined until they are loaded. */
  readonly rows: readonly RecordRow[] | undefined;
  readonly empty: string;
}

export function RecordTable({ label, columns, rows, empty }: RecordTableProps) {
  if (!rows) return <p class="loading-note">{texts.loading}</p>;
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  return (
    <div class="table-area">
      <table class="data-table people-table" aria-label={label}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
            <th scope="col">
              <span class="unseen">{texts.menu}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ id, name, cells, commands }) => (
            <tr key={id}>
              <th scope="row">{name}</th>
              {cells.map((cell, place) => (
                <td key={columns[place + 1]}>{cell}</td>
              ))}
              <td>
                <MenuButton label={texts.actionsOf(name)} entries={commands.filter((entry) => entry !== false)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
