/** Roles, and their privileges. */
import { useSignal } from '@preact/signals';
import { useApp } from '../../state/app.ts';
import { people } from '../../texts/people.ts';
import { texts } from '../../texts.ts';
import { ask } from '../../ui/ask.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Failure } from '../../ui/failure.tsx';
import { type Role, type RolePrivilege, useLoaded } from '../people-api.ts';
import { PrivilegeChoice } from '../privilege-choice.tsx';
import { showRecord } from './record-dialog.tsx';
import { RecordTable } from './record-table.tsx';

const rolesPath = '/v3/access/roles';

export function Roles() {
  const app = useApp();
  const { roles } = people.admin;
  const { value, read } = useLoaded<readonly Role[]>(rolesPath);
  const edit = (role?: Role) =>
    showRecord(app, {
      title: role ? roles.editOf(role.name ?? '') : roles.add,
      yes: role ? texts.save : texts.create,
      fields: [
        { name: 'name', label: texts.name },
        { name: 'description', label: roles.description, isOptional: true },
      ],
      values: { name: role?.name ?? '', description: role?.description ?? '' },
      submit: async (values) => {
        if (role) await app.api.put(`${rolesPath}/${role.role_id}`, values);
        else await app.api.post(rolesPath, values);
        await read();
      },
    });
  const remove = async ({ role_id, name }: Role) => {
    if (!(await ask(app, { ...roles.askDelete(name ?? ''), danger: true }))) return;
    await app.api.delete(`${rolesPath}/${role_id}`);
    await read();
  };
  const showPrivileges = (role: Role) => app.dialogs.show((close) => <RolePrivileges role={role} close={close} />);
  return (
    <>
      <div class="row">
        <Button kind="primary" icon="plus" onClick={() => edit()}>
          {roles.add}
        </Button>
      </div>
      <RecordTable
        label={people.admin.parts.roles}
        columns={roles.columns}
        empty={roles.none}
        rows={value.value?.map((role) => ({
          id: role.role_id,
          name: role.name ?? '',
          cells: [role.description ?? '', String(role.privileges.length), role.is_builtin ? people.admin.builtIn : ''],
          commands: [
            { label: roles.privileges, icon: 'check', run: () => showPrivileges(role) },
            !role.is_builtin && { label: texts.edit, icon: 'edit', run: () => edit(role) },
            !role.is_builtin && {
              label: texts.delete,
              icon: 'trash',
              danger: true,
              run: () => app.toasts.attempt(() => remove(role)),
            },
          ],
        }))}
      />
    </>
  );
}

/** Each box acts at once. */
function RolePrivileges({ role, close }: { readonly role: Role; readonly close: () => void }) {
  const { api } = useApp();
  const failure = useSignal('');
  const path = `${rolesPath}/${role.role_id}/privileges`;
  const known = useLoaded<readonly RolePrivilege[]>('/v3/access/privileges').value.value ?? [];
  const { value, read } = useLoaded<readonly RolePrivilege[]>(path);
  const chosen = new Set((value.value ?? role.privileges).map(({ name }) => name));
  const choose = async (next: ReadonlySet<string>) => {
    failure.value = '';
    try {
      for (const { name, privilege_id } of known) {
        if (next.has(name) && !chosen.has(name)) await api.put(`${path}/${privilege_id}`, {});
        if (!next.has(name) && chosen.has(name)) await api.delete(`${path}/${privilege_id}`);
      }
    } catch (error) {
      failure.value = (error as Error).message;
    }
    await read();
  };
  return (
    <Dialog title={people.admin.roles.privilegesOf(role.name ?? '')} close={close} wide>
      <p>{people.admin.roles.atOnce}</p>
      <Failure text={failure.value} />
      <PrivilegeChoice known={known} chosen={chosen} choose={(next) => void choose(next)} />
    </Dialog>
  );
}
