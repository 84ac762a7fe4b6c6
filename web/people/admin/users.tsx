/** Users: add, change, set a password, disable, delete. */
import { type App, useApp } from '../../state/app.ts';
import { people } from '../../texts/people.ts';
import { texts } from '../../texts.ts';
import { ask } from '../../ui/ask.tsx';
import { Button } from '../../ui/button.tsx';
import { timeText, type UserAccount, useLoaded } from '../people-api.ts';
import { type RecordValues, showRecord } from './record-dialog.tsx';
import { RecordTable } from './record-table.tsx';

const usersPath = '/v3/access/users';

/** Empty texts of optional fields are null. */
const personal = ({ full_name, email }: RecordValues) => ({ full_name: full_name || null, email: email || null });

const fields = {
  name: { name: 'username', label: texts.name, hint: people.admin.users.nameHint },
  password: { name: 'password', label: people.password, kind: 'secret', hint: people.admin.users.passwordHint },
  fullName: { name: 'full_name', label: people.account.fullName, isOptional: true },
  email: { name: 'email', label: people.account.email, isOptional: true },
} as const;

/** Commands for users; `read` shows their effect. */
function userCommands(app: App, read: () => Promise<unknown>) {
  const { users } = people.admin;
  const change = async (user: UserAccount, body: object) => {
    await app.api.put(`${usersPath}/${user.user_id}`, body);
    await read();
  };
  const add = () =>
    showRecord(app, {
      title: users.add,
      yes: texts.create,
      fields: [fields.name, fields.password, fields.fullName, fields.email],
      submit: async ({ username = '', password = '', ...others }) => {
        await app.api.post(usersPath, { username, password, ...personal(others) });
        await read();
      },
    });
  const edit = (user: UserAccount) =>
    showRecord(app, {
      title: users.editOf(user.username),
      yes: texts.save,
      fields: [fields.name, fields.fullName, fields.email],
      values: { username: user.username, full_name: user.full_name ?? '', email: user.email ?? '' },
      // GNS3 refuses a name or address that the user has already.
      submit: ({ username = '', ...others }) =>
        change(user, {
          ...(username !== user.username && { username }),
          full_name: others.full_name || null,
          ...((others.email || null) !== user.email && { email: others.email || null }),
        }),
    });
  const setPassword = (user: UserAccount) =>
    showRecord(app, {
      title: users.passwordOf(user.username),
      yes: texts.save,
      fields: [fields.password],
      submit: ({ password = '' }) => change(user, { password }),
    });
  const remove = async (user: UserAccount) => {
    if (!(await ask(app, { ...users.askDelete(user.username), danger: true }))) return;
    await app.api.delete(`${usersPath}/${user.user_id}`);
    await read();
  };
  return { change, add, edit, setPassword, remove };
}

export function Users() {
  const app = useApp();
  const { users } = people.admin;
  const { value, read } = useLoaded<readonly UserAccount[]>(usersPath);
  const { change, add, edit, setPassword, remove } = userCommands(app, read);
  const isSuperAdmin = app.server.rights.account.value?.is_superadmin === true;
  const attempt = (task: () => Promise<unknown>) => () => app.toasts.attempt(task);
  return (
    <>
      <div class="row">
        <Button kind="primary" icon="plus" onClick={add}>
          {users.add}
        </Button>
      </div>
      <RecordTable
        label={people.admin.parts.users}
        columns={users.columns}
        empty={users.none}
        rows={value.value?.map((user) => ({
          id: user.user_id,
          name: user.username,
          cells: [
            [user.full_name, user.email].filter(Boolean).join(', '),
            [user.is_superadmin && people.account.superAdmin, user.is_active ? users.active : users.disabled]
              .filter(Boolean)
              .join(', '),
            timeText(user.last_login, people.account.never),
          ],
          commands: [
            { label: texts.edit, icon: 'edit', run: () => edit(user) },
            { label: users.setPassword, icon: 'lock', run: () => setPassword(user) },
            {
              label: user.is_active ? users.disable : users.enable,
              icon: 'power',
              run: attempt(() => change(user, { is_active: !user.is_active })),
            },
            isSuperAdmin && {
              label: user.is_superadmin ? users.dismiss : users.promote,
              icon: 'check',
              run: attempt(() => change(user, { is_superadmin: !user.is_superadmin })),
            },
            { label: texts.delete, icon: 'trash', danger: true, run: attempt(() => remove(user)) },
          ],
        }))}
      />
    </>
  );
}
