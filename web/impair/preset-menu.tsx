/** Typical lines, each with its figures. */
import { texts } from '../texts.ts';
import { type FilterObject, sameFilters, turned } from './form.ts';
import { presetFigures, presets } from './presets.ts';

interface PresetMenuProps {
  readonly filters: FilterObject;
  readonly names: readonly [string, string];
  readonly set: (filters: FilterObject) => void;
}

export function PresetMenu({ filters, names, set }: PresetMenuProps) {
  return (
    <details class="presets">
      <summary>{texts.impair.presetsTitle}</summary>
      <ul>
        {presets.map((preset) => (
          <li key={preset.id}>
            <button
              type="button"
              aria-pressed={sameFilters(filters, preset.filters) || sameFilters(filters, turned(preset.filters))}
              onClick={() => set(preset.filters)}
            >
              <strong>{texts.impair.presets[preset.id]}</strong>
              <small>{presetFigures(preset.filters)}</small>
            </button>
          </li>
        ))}
      </ul>
      <small>{texts.impair.upAndDownHint(names)}</small>
    </details>
  );
}
