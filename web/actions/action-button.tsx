/** Buttons and menus that run commands. */

import { useApp } from '../state/app.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { moveFocus } from '../ui/focus.ts';
import { Icon } from '../ui/icon.tsx';
import { type Action, contextOf, runAction } from './action.ts';
import { shownChord } from './keys.ts';
import { lackedBy } from './needs.ts';

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
  const lacked = lackedBy(action, context);
  const title = lacked && texts.refusal.lacks(action.label, lacked);
  return (
    <Button
      kind={kind}
      {...(action.icon && { icon: action.icon })}
      label={action.label}
      title={title ?? (chord ? `${action.label}  (${shownChord(chord)})` : action.label)}
      refused={lacked !== undefined}
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
            aria-disabled={lackedBy(action, context) !== undefined}
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
