/** Buttons and menus made of commands. */
import { type Action, contextOf, runAction } from '../actions/action.ts';
import { shownChord } from '../actions/keys.ts';
import { useApp } from '../state/app.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';

interface ActionButtonProps {
  readonly action: Action;
  readonly withLabel?: boolean;
  readonly kind?: 'plain' | 'primary' | 'quiet';
}

export function ActionButton({ action, withLabel = false, kind = 'quiet' }: ActionButtonProps) {
  const app = useApp();
  const context = contextOf(app);
  if (action.offered?.(context) === false) return null;
  const [chord] = action.keys ?? [];
  return (
    <Button
      kind={kind}
      {...(action.icon && { icon: action.icon })}
      label={action.label}
      title={chord ? `${action.label}  (${shownChord(chord)})` : action.label}
      disabled={!action.enabled(context)}
      pressed={action.on?.(context)}
      onClick={() => runAction(action, app)}
    >
      {withLabel && action.label}
    </Button>
  );
}

export function ActionMenu({ actions, done }: { readonly actions: readonly Action[]; readonly done: () => void }) {
  const app = useApp();
  const context = contextOf(app);
  const offered = actions.filter((action) => action.offered?.(context) !== false);
  return (
    <div class="menu" role="menu" onKeyDown={moveFocus}>
      {offered.map((action, place) => (
        <div key={action.id} class={place > 0 && offered[place - 1]?.group !== action.group ? 'apart' : ''}>
          <button
            type="button"
            role="menuitem"
            class={action.danger ? 'danger' : ''}
            disabled={!action.enabled(context)}
            onClick={() => {
              done();
              runAction(action, app);
            }}
          >
            <span class="menu-icon">{action.icon && <Icon name={action.icon} />}</span>
            <span>{action.label}</span>
            {action.keys?.[0] && <kbd>{shownChord(action.keys[0])}</kbd>}
          </button>
        </div>
      ))}
    </div>
  );
}

/** Arrow keys go from one entry to the next. */
export function moveFocus(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  const entries = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('button:not(:disabled)')];
  const at = entries.indexOf(document.activeElement as HTMLElement);
  entries[(at + step + entries.length) % entries.length]?.focus();
  event.preventDefault();
  event.stopPropagation();
}
