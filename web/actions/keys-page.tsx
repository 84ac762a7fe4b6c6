/** The `?` page: every command with its keys. */

import { useApp } from '../state/app.ts';
import { texts } from '../texts.ts';
import { Dialog } from '../ui/dialog.tsx';
import { SwitchField } from '../ui/field.tsx';
import type { Action, ActionGroup } from './action.ts';
import { contextOf } from './action.ts';
import { shownChord } from './keys.ts';

const groups: readonly ActionGroup[] = ['nodes', 'links', 'edit', 'draw', 'arrange', 'view', 'project', 'page'];

interface KeysPageProps {
  readonly actions: readonly Action[];
  readonly close: () => void;
}

export function KeysPage({ actions, close }: KeysPageProps) {
  const app = useApp();
  const context = contextOf(app);
  const listed = (group: ActionGroup): readonly Action[] =>
    actions.filter((action) => action.group === group && action.keys && action.offered?.(context) !== false);
  return (
    <Dialog title={texts.actions.keys} close={close} wide scrolls>
      <SwitchField
        label={texts.letterKeys}
        hint={texts.letterKeysHint}
        value={app.letterKeys.value}
        onChange={(isOn) => (app.letterKeys.value = isOn)}
      />
      <div class="keys">
        {groups.map((group) => (
          <section key={group}>
            <h3>{texts.groups[group]}</h3>
            <dl>
              {listed(group).map(({ id, label, keys = [] }) => (
                <div key={id}>
                  <dt>{label}</dt>
                  <dd>
                    {keys.map((chord) => (
                      <kbd key={chord}>{shownChord(chord)}</kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
        <section>
          <h3>{texts.pointer}</h3>
          <dl>
            {texts.pointerHelp.map(([what, how]) => (
              <div key={what}>
                <dt>{what}</dt>
                <dd>{how}</dd>
              </div>
            ))}
          </dl>
        </section>
      </div>
    </Dialog>
  );
}
