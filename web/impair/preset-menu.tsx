/** Typical lines as chips; the figures of the chosen one, and of the others in their tooltips. */
import { texts } from '../texts.ts';
import { type FilterObject, sameFilters, turned } from './form.ts';
import { presetFigures, presets } from './presets.ts';

interface PresetMenuProps {
  readonly filters: FilterObject;
  readonly names: readonly [string, string];
  readonly set: (filters: FilterObject) => void;
}

export function PresetMenu({ filters, names, set }: PresetMenuProps) {
  const chosen = presets.find((one) => sameFilters(filters, one.filters) || sameFilters(filters, turned(one.filters)));
  return (
    <section class="presets" aria-label={texts.impair.presetsTitle}>
      <ul>
        {presets.map((preset) => (
          <li key={preset.id}>
            <button
              type="button"
              aria-pressed={preset === chosen}
              title={`${presetFigures(preset.filters)}\n${texts.impair.upAndDownHint(names)}`}
              onClick={() => set(preset.filters)}
            >
              {texts.impair.presets[preset.id]}
            </button>
          </li>
        ))}
      </ul>
      {chosen && <small>{presetFigures(chosen.filters)}</small>}
    </section>
  );
}
