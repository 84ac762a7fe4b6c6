/** Chooses one of the server's symbols. */
import { useSignal } from '@preact/signals';
import { useApp } from '../state/app.ts';
import { texts } from '../texts.ts';
import { DeviceSymbol } from '../ui/device-symbol.tsx';

interface SymbolEntry {
  readonly symbol_id: string;
  readonly filename: string;
  readonly theme: string;
}

export function SymbolPicker({ symbol, pick }: { readonly symbol: string; readonly pick: (symbol: string) => void }) {
  const { api, toasts } = useApp();
  const list = useSignal<readonly SymbolEntry[]>([]);
  const theme = useSignal('Classic');
  const read = async () => {
    if (list.value.length === 0) list.value = (await toasts.attempt(() => api.get<SymbolEntry[]>('/v2/symbols'))) ?? [];
  };
  const themes = [...new Set(list.value.map((entry) => entry.theme))];
  return (
    <details class="symbols" onToggle={({ currentTarget }) => currentTarget.open && read()}>
      <summary>{texts.symbol}</summary>
      <select
        aria-label={texts.symbolTheme}
        value={theme.value}
        onChange={({ currentTarget }) => (theme.value = currentTarget.value)}
      >
        {themes.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <div class="symbol-grid">
        {list.value
          .filter((entry) => entry.theme === theme.value)
          .map(({ symbol_id, filename }) => (
            <button
              key={symbol_id}
              type="button"
              title={filename}
              aria-label={filename}
              aria-pressed={symbol_id === symbol}
              onClick={() => pick(symbol_id)}
            >
              <DeviceSymbol symbol={symbol_id} />
            </button>
          ))}
      </div>
    </details>
  );
}
