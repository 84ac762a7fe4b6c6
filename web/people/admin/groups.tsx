/** Groups of users, and their members. */
import { type App, useApp } from '../../state/app.ts';
import { people } from '../../texts/people.ts';
import { texts } from '../../texts.ts';
import { ask } from '../../ui/ask.tsx';
import { Button } from '../../ui/button.tsx';
import { type Loaded, type UserAccount, type UserGroup, useLoaded } from '../people-api.ts';
import { MembersDialog } from './members-dialog.tsx';
import { showRecord } from './record-dialog.tsx';
import { RecordTable } from './record-table.tsx';

const groupsPath = '/v3/access/groups';
const memberOf = ({ user_id, username }: UserAccount) => [user_id, username] as const;

/** Commands for groups; `read` shows their effect. */
function groupCommands(app: App, read: () => Promise<unknown>, users: Loaded<readonly UserAccount[]>['value']) {
  const { groups } = people.admin;
  const fields = [{ name: 'name', label: texts.name, hint: people.admin.users.nameHint }];
  const add = () =>
    showRecord(app, {
      title: groups.add,
      yes: texts.create,
      fields,
      submit: async ({ name }) => {
        await app.api.post(groupsPath, { name });
        await read();
      },
    });
  const rename = ({ user_group_id, name }: UserGroup) =>
    showRecord(app, {
      title: texts.rename,
      yes: texts.save,
      fields,
      values: { name: name ?? '' },
      submit: async (values) => {
        await app.api.put(`${groupsPath}/${user_group_id}`, values);
        await read();
      },
    });
  const remove = async ({ user_group_id, name }: UserGroup) => {
    if (!(await ask(app, { ...groups.askDelete(name ?? ''), danger: true }))) return;
    await app.api.delete(`${groupsPath}/${user_group_id}`);
    await read();
  };
  const showMembers = ({ user_group_id, name }: UserGroup) =>
    app.dialogs.show((close) => (
      <MembersDialog
        title={groups.membersOf(name ?? '')}
        path={`${groupsPath}/${user_group_id}/members`}
        memberOf={memberOf}
        candidates={() => (users.value ?? []).map(memberOf)}
        close={close}
      />
    ));
  return { add, rename, remove, showMembers };
}

export function Groups() {
  const app = useApp();
  const { groups } = people.admin;
  const { value, read } = useLoaded<readonly UserGroup[]>(groupsPath);
  const mayList = app.server.rights.may('User.Audit', '/access/users');
  const users = useLoaded<readonly UserAccount[]>(mayList ? '/v3/access/users' : '').value;
  const { add, rename, remove, showMembers } = groupCommands(app, read, users);
  return (
    <>
      <div class="row">
        <Button kind="primary" icon="plus" onClick={add}>
          {groups.add}
        </Button>
      </div>
      <RecordTable
        label={people.admin.parts.groups}
        columns={groups.columns}
        empty={groups.none}
        rows={value.value?.map((group) => ({
          id: group.user_group_id,
          name: group.name ?? '',
          cells: [group.is_builtin ? people.admin.builtIn : ''],
          commands: [
            { label: groups.members, icon: 'people', run: () => showMembers(group) },
            !group.is_builtin && { label: texts.rename, icon: 'edit', run: () => rename(group) },
            !group.is_builtin && {
              label: texts.delete,
              icon: 'trash',
              danger: true,
              run: () => app.toasts.attempt(() => remove(group)),
            },
          ],
        }))}
      />
    </>
  );
}
