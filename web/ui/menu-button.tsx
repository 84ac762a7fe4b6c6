/** A button that opens a menu of commands. */
import { useSignal } from '@preact/signals';
import { Button } from './button.tsx';
import { moveFocus } from './focus.ts';
import { Icon, type IconName } from './icon.tsx';
import { Popup } from './popup.tsx';

export interface MenuEntry {
  readonly label: string;
  readonly icon: IconName;
  readonly danger?: boolean;
  readonly run: () => unknown;
}

export function MenuButton({ label, entries, icon = 'more' }: { label: string; entries: readonly MenuEntry[]; icon?: IconName }) {
  const place = useSignal<{ x: number; y: number } | undefined>(undefined);
  const close = () => {
    place.value = undefined;
  };
  return (
    <>
      <Button
        icon={icon}
        kind="quiet"
        label={label}
        onClick={({ currentTarget }) => {
          const { left, bottom } = (currentTarget as HTMLElement).getBoundingClientRect();
          place.value = { x: left, y: bottom + 4 };
        }}
      />
      {place.value && (
        <Popup {...place.value} close={close} label={label}>
          <div class="menu" role="menu" onKeyDown={moveFocus}>
            {entries.map((entry) => (
              <div key={entry.label}>
                <button
                  type="button"
                  role="menuitem"
                  class={entry.danger ? 'danger' : ''}
                  onClick={() => {
                    close();
                    entry.run();
                  }}
                >
                  <span class="menu-icon">
                    <Icon name={entry.icon} />
                  </span>
                  <span>{entry.label}</span>
                </button>
              </div>
            ))}
          </div>
        </Popup>
      )}
    </>
  );
}
