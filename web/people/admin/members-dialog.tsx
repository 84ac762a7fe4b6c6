/** The members of a group, or the projects of a pool: a list with a choice of those that can be added. */
import { useSignal } from '@preact/signals';
import { useApp } from '../../state/app.ts';
import { people } from '../../texts/people.ts';
import { texts } from '../../texts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Failure } from '../../ui/failure.tsx';
import { ChoiceField } from '../../ui/field.tsx';
import { useLoaded } from '../people-api.ts';

interface MembersDialogProps<T> {
  readonly title: string;
  /** Address of the list; a member is below it by its id. */
  readonly path: string;
  readonly memberOf: (one: T) => readonly [id: string, name: string];
  /** Reads signals: the list may arrive while the dialog is open. */
  readonly candidates: () => readonly (readonly [id: string, name: string])[];
  readonly close: () => void;
}

export function MembersDialog<T>({ title, path, memberOf, candidates, close }: MembersDialogProps<T>) {
  const { api } = useApp();
  const { value, read } = useLoaded<readonly T[]>(path);
  const [chosen, failure] = [useSignal(''), useSignal('')];
  const members = (value.value ?? []).map(memberOf);
  const others = candidates().filter(([id]) => members.every(([member]) => member !== id));
  const target = others.find(([id]) => id === chosen.value) ?? others[0];
  const attempt = async (task: () => Promise<unknown>) => {
    failure.value = '';
    try {
      await task();
    } catch (error) {
      failure.value = (error as Error).message;
    }
    await read();
  };
  return (
    <Dialog title={title} close={close}>
      <Failure text={failure.value} />
      {target && (
        <div class="row">
          <ChoiceField label={people.admin.add} value={target[0]} options={others} onChange={(id) => (chosen.value = id)} />
          <Button kind="primary" icon="plus" onClick={() => void attempt(() => api.put(`${path}/${target[0]}`, {}))}>
            {people.admin.add}
          </Button>
        </div>
      )}
      {!value.value && <p class="loading-note">{texts.loading}</p>}
      {value.value?.length === 0 && <p class="empty">{people.admin.noMembers}</p>}
      <ul class="plain-list" aria-label={title}>
        {members.map(([id, name]) => (
          <li key={id}>
            <span>{name}</span>
            <Button
              icon="close"
              kind="quiet"
              label={people.admin.removeOf(name)}
              onClick={() => void attempt(() => api.delete(`${path}/${id}`))}
            />
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
