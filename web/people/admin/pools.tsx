/** Resource pools, and their projects. */
import { useApp } from '../../state/app.ts';
import { people } from '../../texts/people.ts';
import { texts } from '../../texts.ts';
import { ask } from '../../ui/ask.tsx';
import { Button } from '../../ui/button.tsx';
import { type ResourcePool, useLoaded } from '../people-api.ts';
import { MembersDialog } from './members-dialog.tsx';
import { showRecord } from './record-dialog.tsx';
import { RecordTable } from './record-table.tsx';

interface PoolMember {
  readonly resource_id: string;
  readonly name: string | null;
}

const poolsPath = '/v3/pools';

export function Pools() {
  const app = useApp();
  const { pools } = people.admin;
  const { value, read } = useLoaded<readonly ResourcePool[]>(poolsPath);
  const fields = [{ name: 'name', label: texts.name }];
  const edit = (pool?: ResourcePool) =>
    showRecord(app, {
      title: pool ? texts.rename : pools.add,
      yes: pool ? texts.save : texts.create,
      fields,
      values: { name: pool?.name ?? '' },
      submit: async (values) => {
        if (pool) await app.api.put(`${poolsPath}/${pool.resource_pool_id}`, values);
        else await app.api.post(poolsPath, values);
        await read();
      },
    });
  const remove = async ({ resource_pool_id, name }: ResourcePool) => {
    if (!(await ask(app, { ...pools.askDelete(name), danger: true }))) return;
    await app.api.delete(`${poolsPath}/${resource_pool_id}`);
    await read();
  };
  const showProjects = ({ resource_pool_id, name }: ResourcePool) =>
    app.dialogs.show((close) => (
      <MembersDialog<PoolMember>
        title={pools.projectsOf(name)}
        path={`${poolsPath}/${resource_pool_id}/resources`}
        memberOf={(one) => [one.resource_id, one.name ?? '']}
        candidates={() => app.server.projects.all.value.map((project) => [project.project_id, project.name ?? ''] as const)}
        close={close}
      />
    ));
  return (
    <>
      <p>{pools.text}</p>
      <div class="row">
        <Button kind="primary" icon="plus" onClick={() => edit()}>
          {pools.add}
        </Button>
      </div>
      <RecordTable
        label={people.admin.parts.pools}
        columns={pools.columns}
        empty={pools.none}
        rows={value.value?.map((pool) => ({
          id: pool.resource_pool_id,
          name: pool.name,
          cells: [],
          commands: [
            { label: texts.projects, icon: 'folder', run: () => showProjects(pool) },
            { label: texts.rename, icon: 'edit', run: () => edit(pool) },
            { label: texts.delete, icon: 'trash', danger: true, run: () => app.toasts.attempt(() => remove(pool)) },
          ],
        }))}
      />
    </>
  );
}
