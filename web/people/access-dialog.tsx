/** "Share" of a project: who may see and change it, by which entries of the access list, and the pools that it is in. */
import './people.css';
import '../style/tables.css';
import { useSignal } from '@preact/signals';
import { useApp } from '../state/app.ts';
import { people } from '../texts/people.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Failure } from '../ui/failure.tsx';
import { ChoiceField, TextField } from '../ui/field.tsx';
import { Icon } from '../ui/icon.tsx';
import { Notice } from '../ui/notice.tsx';
import { type ResourcePool, type UserAccount, type UserGroup, useLoaded } from './people-api.ts';

type Level = 'view' | 'work' | 'manage';

interface ShareEntry {
  readonly ace_id: string;
  readonly ace_type: 'user' | 'group';
  readonly name: string;
  readonly path: string;
  readonly role: string;
  readonly level: Level | null;
  readonly allowed: boolean;
  readonly propagate: boolean;
  readonly is_own: boolean;
  readonly applies: boolean;
}

interface ProjectAccess {
  readonly may_change: boolean;
  readonly may_read: boolean;
  readonly ask: readonly string[];
  readonly pools: readonly ResourcePool[];
  readonly entries: readonly ShareEntry[];
}

interface AccessDialogProps {
  readonly project: { readonly project_id: string; readonly name: string | null };
  readonly close: () => void;
}

type Set = (subject: Pick<ShareEntry, 'ace_type' | 'name'>, level: Level | 'none') => Promise<boolean>;

export function AccessDialog({ project: { project_id, name }, close }: AccessDialogProps) {
  const { api } = useApp();
  const path = `/v3/projects/${project_id}/access`;
  const { value, read } = useLoaded<ProjectAccess>(path);
  const failure = useSignal('');
  const attempt = async (task: () => Promise<unknown>) => {
    failure.value = '';
    try {
      await task();
      await read();
      return true;
    } catch (error) {
      failure.value = (error as Error).message;
      return false;
    }
  };
  const set: Set = (subject, level) => attempt(() => api.put(path, { ace_type: subject.ace_type, name: subject.name, level }));
  const access = value.value;
  const { share } = people;
  return (
    <Dialog title={share.title(name ?? '')} close={close} wide>
      {!access && <p class="loading-note">{texts.loading}</p>}
      {access && !access.may_change && <p role="note">{share.readOnly(access.ask)}</p>}
      <Failure text={failure.value} />
      {access?.may_change && <AddForm set={set} />}
      {access?.may_read && (
        <>
          {access.pools.length > 0 && <Notice level="warning">{share.inPools(access.pools.map((pool) => pool.name))}</Notice>}
          <EntryTable access={access} set={set} />
          <p>
            <small>{share.superAdmins}</small>
          </p>
          <Pools projectId={project_id} inPools={access.pools} attempt={attempt} />
        </>
      )}
    </Dialog>
  );
}

function EntryTable({ access, set }: { readonly access: ProjectAccess; readonly set: Set }) {
  const { share } = people;
  if (access.entries.length === 0) return <p class="empty">{share.none}</p>;
  const sorted = access.entries.toSorted((one, other) => Number(other.is_own) - Number(one.is_own));
  return (
    <div class="table-area">
      <table class="data-table people-table" aria-label={share.list}>
        <thead>
          <tr>
            {share.columns.map((column) => (
              <th key={column} scope="col">
                {column || <span class="unseen">{share.remove}</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.map((entry) => (
            <EntryRow key={entry.ace_id} entry={entry} mayChange={access.may_change && entry.is_own} set={set} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface EntryRowProps {
  readonly entry: ShareEntry;
  readonly mayChange: boolean;
  readonly set: Set;
}

function EntryRow({ entry, mayChange, set }: EntryRowProps) {
  const { share } = people;
  const { name, ace_type, level, role, path, allowed, propagate, applies } = entry;
  return (
    <tr class={applies ? '' : 'without-effect'}>
      <th scope="row">
        <span class="with-icon">
          <Icon name={ace_type === 'user' ? 'person' : 'people'} />
          {name}
          <span class="unseen">{share.kinds[ace_type]}</span>
        </span>
      </th>
      <td>
        {mayChange && level ? (
          <select
            aria-label={share.roleOf(name)}
            value={level}
            onChange={({ currentTarget }) => void set(entry, currentTarget.value as Level)}
          >
            {share.levels.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        ) : (
          (share.levels.find(([value]) => value === level)?.[1] ?? share.otherRole(role, allowed))
        )}
      </td>
      <td>
        {share.entry(role, path, { allowed, propagate })}
        {!applies && <small class="block">{share.noEffect}</small>}
      </td>
      <td>
        {mayChange && <Button icon="trash" kind="quiet" label={share.removeOf(name)} onClick={() => void set(entry, 'none')} />}
      </td>
    </tr>
  );
}

/** Names are suggested to accounts that may list users and groups; others type them. */
function AddForm({ set }: { readonly set: Set }) {
  const { server } = useApp();
  const { share } = people;
  const [kind, name, level] = [useSignal<'user' | 'group'>('user'), useSignal(''), useSignal<Level>('view')];
  const users = useLoaded<readonly UserAccount[]>(server.rights.may('User.Audit', '/access/users') ? '/v3/access/users' : '').value;
  const groups = useLoaded<readonly UserGroup[]>(
    server.rights.may('Group.Audit', '/access/groups') ? '/v3/access/groups' : '',
  ).value;
  const options =
    kind.value === 'user'
      ? users.value?.filter((user) => !user.is_superadmin).map(({ username }) => username)
      : groups.value?.map((group) => group.name ?? '');
  const add = async () => {
    const subject = { ace_type: kind.value, name: name.value.trim() };
    if (subject.name !== '' && (await set(subject, level.value))) name.value = '';
  };
  return (
    <div class="row">
      <ChoiceField
        label={share.kind}
        value={kind.value}
        options={Object.entries(share.kinds)}
        onChange={(value) => (kind.value = value === 'group' ? 'group' : 'user')}
      />
      <TextField
        label={texts.name}
        value={name.value}
        onInput={(value) => (name.value = value)}
        focused
        {...(options && { options })}
      />
      <ChoiceField
        label={share.role}
        value={level.value}
        options={share.levels}
        onChange={(value) => (level.value = value as Level)}
      />
      <Button kind="primary" icon="plus" disabled={name.value.trim() === ''} onClick={() => void add()}>
        {share.add}
      </Button>
    </div>
  );
}

interface PoolsProps {
  readonly projectId: string;
  readonly inPools: readonly ResourcePool[];
  readonly attempt: (task: () => Promise<unknown>) => Promise<boolean>;
}

/** The pools of the project, for accounts that may see pools. */
function Pools({ projectId, inPools, attempt }: PoolsProps) {
  const { api, server } = useApp();
  const { share } = people;
  const mayChange = server.rights.may('Pool.Modify', '/pools');
  const all = useLoaded<readonly ResourcePool[]>(server.rights.may('Pool.Audit', '/pools') ? '/v3/pools' : '').value.value;
  const others = (all ?? []).filter((pool) => inPools.every((one) => one.resource_pool_id !== pool.resource_pool_id));
  const chosen = useSignal('');
  if (!mayChange || !all || all.length === 0) return null;
  const resource = (poolId: string) => `/v3/pools/${poolId}/resources/${projectId}`;
  const target = others.find((pool) => pool.resource_pool_id === chosen.value) ?? others[0];
  return (
    <section class="people-part">
      <h3>{share.pools}</h3>
      {inPools.map((pool) => (
        <div key={pool.resource_pool_id} class="with-icon">
          <span class="chip">{pool.name}</span>
          <Button
            icon="close"
            kind="quiet"
            label={share.leavePool(pool.name)}
            onClick={() => void attempt(() => api.delete(resource(pool.resource_pool_id)))}
          />
        </div>
      ))}
      {target && (
        <div class="row">
          <ChoiceField
            label={share.pool}
            value={target.resource_pool_id}
            options={others.map((pool) => [pool.resource_pool_id, pool.name] as const)}
            onChange={(value) => (chosen.value = value)}
          />
          <Button onClick={() => void attempt(() => api.put(resource(target.resource_pool_id), {}))}>{share.joinPool}</Button>
        </div>
      )}
    </section>
  );
}
