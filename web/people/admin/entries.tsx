/** The access list, and a form that says which of its entries decides a request. */
import { useSignal } from '@preact/signals';
import { type App, useApp } from '../../state/app.ts';
import { people } from '../../texts/people.ts';
import { texts } from '../../texts.ts';
import { ask } from '../../ui/ask.tsx';
import { Button } from '../../ui/button.tsx';
import { ChoiceField, TextField } from '../../ui/field.tsx';
import { type AccessEntry, type Role, type UserAccount, type UserGroup, useLoaded } from '../people-api.ts';
import { type RecordField, showRecord } from './record-dialog.tsx';
import { RecordTable } from './record-table.tsx';

interface Endpoint {
  readonly endpoint: string;
  readonly name: string;
}

const aclPath = '/v3/access/acl';

/** Everything that entries name, as far as it has arrived. */
interface EntryNames {
  readonly users: readonly UserAccount[];
  readonly groups: readonly UserGroup[];
  readonly roles: readonly Role[];
  readonly endpoints: readonly Endpoint[];
}

function useEntryNames(): () => EntryNames {
  const users = useLoaded<readonly UserAccount[]>('/v3/access/users').value;
  const groups = useLoaded<readonly UserGroup[]>('/v3/access/groups').value;
  const roles = useLoaded<readonly Role[]>('/v3/access/roles').value;
  const endpoints = useLoaded<readonly Endpoint[]>(`${aclPath}/endpoints`).value;
  return () => ({
    users: users.value ?? [],
    groups: groups.value ?? [],
    roles: roles.value ?? [],
    endpoints: endpoints.value ?? [],
  });
}

function fieldsOf({ users, groups, roles, endpoints }: EntryNames): readonly RecordField[] {
  const { entries } = people.admin;
  return [
    { name: 'ace_type', label: people.share.kind, choices: Object.entries(people.share.kinds) },
    {
      name: 'subject',
      label: entries.subject,
      choices: ({ ace_type }) =>
        ace_type === 'group'
          ? groups.map((group) => [group.user_group_id, group.name ?? ''] as const)
          : users.map((user) => [user.user_id, user.username] as const),
    },
    { name: 'path', label: entries.path, hint: entries.pathHint, options: endpoints.map(({ endpoint }) => endpoint) },
    { name: 'role_id', label: people.share.role, choices: roles.map((role) => [role.role_id, role.name ?? ''] as const) },
    { name: 'allowed', label: entries.allowed, hint: entries.allowedHint, kind: 'switch' },
    { name: 'propagate', label: entries.propagate, hint: entries.propagateHint, kind: 'switch' },
  ];
}

function editEntry(app: App, names: () => EntryNames, read: () => Promise<unknown>, entry?: AccessEntry): void {
  const { entries } = people.admin;
  const { ace_type = 'user', path = '/', role_id = '', allowed = true, propagate = true } = entry ?? {};
  const subject = entry?.user_id ?? entry?.group_id ?? '';
  showRecord(app, {
    title: entry ? entries.edit : entries.add,
    yes: entry ? texts.save : texts.create,
    fields: () => fieldsOf(names()),
    values: { ace_type, subject, path, role_id, allowed, propagate },
    submit: async ({ subject: id, ...given }) => {
      const body = { ...given, path: String(given.path).trim(), [given.ace_type === 'group' ? 'group_id' : 'user_id']: id };
      if (entry) await app.api.put(`${aclPath}/${entry.ace_id}`, body);
      else await app.api.post(aclPath, body);
      await read();
    },
  });
}

export function Entries() {
  const app = useApp();
  const { entries } = people.admin;
  const { value, read } = useLoaded<readonly AccessEntry[]>(aclPath);
  const names = useEntryNames();
  const { users, groups, roles, endpoints } = names();
  const subjectOf = ({ user_id, group_id }: AccessEntry) =>
    users.find((one) => one.user_id === user_id)?.username ??
    groups.find((one) => one.user_group_id === group_id)?.name ??
    entries.unknown;
  const roleOf = ({ role_id }: AccessEntry) => roles.find((one) => one.role_id === role_id)?.name ?? entries.unknown;
  const nameOf = (path: string) => endpoints.find(({ endpoint }) => endpoint === path)?.name;
  const edit = (entry?: AccessEntry) => editEntry(app, names, read, entry);
  const remove = async (entry: AccessEntry) => {
    if (!(await ask(app, { ...entries.askDelete(subjectOf(entry), entry.path), danger: true }))) return;
    await app.api.delete(`${aclPath}/${entry.ace_id}`);
    await read();
  };
  return (
    <>
      <div class="row">
        <Button kind="primary" icon="plus" onClick={() => edit()}>
          {entries.add}
        </Button>
      </div>
      <RecordTable
        label={people.admin.parts.entries}
        columns={entries.columns}
        empty={entries.none}
        rows={value.value?.map((entry) => ({
          id: entry.ace_id,
          name: subjectOf(entry),
          cells: [
            people.share.kinds[entry.ace_type],
            <span key="path" title={entry.path}>
              {nameOf(entry.path) ?? entry.path}
            </span>,
            roleOf(entry),
            entry.allowed ? entries.grants : entries.refuses,
            entry.propagate ? entries.below : entries.only,
          ],
          commands: [
            { label: texts.edit, icon: 'edit', run: () => edit(entry) },
            { label: texts.delete, icon: 'trash', danger: true, run: () => app.toasts.attempt(() => remove(entry)) },
          ],
        }))}
      />
      <Explain users={users} />
    </>
  );
}

interface Explained {
  readonly allowed: boolean;
  readonly right: string | readonly string[];
  readonly reasons: readonly { readonly allowed: boolean; readonly sentence: string }[];
}

function Explain({ users }: { readonly users: readonly UserAccount[] }) {
  const { api, toasts } = useApp();
  const { explain } = people.admin;
  const [user, method, target] = [useSignal(''), useSignal('GET'), useSignal('/v2/projects')];
  const answer = useSignal<Explained | undefined>(undefined);
  const name = user.value || (users[0]?.username ?? '');
  const ready = name !== '' && target.value.trim().startsWith('/');
  const send = () =>
    toasts.attempt(async () => {
      answer.value = undefined;
      const path = target.value.trim().slice(1);
      answer.value = await api.get<Explained>(`${aclPath}/explain/${encodeURIComponent(name)}/${method.value}/${path}`);
    });
  return (
    <section class="people-part">
      <h2>{explain.title}</h2>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          if (ready) void send();
        }}
      >
        <ChoiceField
          label={people.account.user}
          value={name}
          options={users.map(({ username }) => username)}
          onChange={(value) => (user.value = value)}
        />
        <ChoiceField
          label={explain.method}
          value={method.value}
          options={['GET', 'POST', 'PUT', 'DELETE']}
          onChange={(value) => (method.value = value)}
        />
        <TextField label={explain.path} value={target.value} onInput={(value) => (target.value = value)} />
        <Button submit disabled={!ready}>
          {explain.ask}
        </Button>
      </form>
      <div role="status">
        {answer.value && (
          <>
            <p>
              <strong>{answer.value.allowed ? explain.yes(name) : explain.no(name)}</strong>{' '}
              {answer.value.reasons.length === 0 && explain.byWord(String(answer.value.right))}
            </p>
            <ul>
              {answer.value.reasons.map(({ sentence }) => (
                <li key={sentence}>{sentence}</li>
              ))}
            </ul>
          </>
        )}
      </div>
    </section>
  );
}
