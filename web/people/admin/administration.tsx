/** The parts of the administration that the account may read. */
import '../people.css';
import '../../style/tables.css';
import type { FunctionComponent } from 'preact';
import { useApp } from '../../state/app.ts';
import { administration } from '../../state/rights.ts';
import { people } from '../../texts/people.ts';
import { Entries } from './entries.tsx';
import { Groups } from './groups.tsx';
import { Pools } from './pools.tsx';
import { Roles } from './roles.tsx';
import { Users } from './users.tsx';

type PartName = keyof typeof administration;

const views: Readonly<Record<PartName, FunctionComponent>> = {
  users: Users,
  groups: Groups,
  roles: Roles,
  entries: Entries,
  pools: Pools,
};
const names = Object.keys(views) as readonly PartName[];

export function Administration({ part }: { readonly part: string }) {
  const { rights } = useApp().server;
  const readable = names.filter((name) => {
    const [privilege, path] = administration[name];
    return rights.may(privilege, path);
  });
  const shown = readable.find((name) => name === part) ?? readable[0];
  if (rights.account.value === undefined) return <p class="empty">{people.admin.noLogins}</p>;
  if (shown === undefined) return <p class="empty">{people.admin.nothing}</p>;
  const View = views[shown];
  return (
    <section class="administration">
      <nav class="views" aria-label={people.admin.title}>
        {readable.map((name) => (
          <a key={name} href={`/accounts/${name}`} aria-current={name === shown ? 'page' : undefined}>
            {people.admin.parts[name]}
          </a>
        ))}
      </nav>
      <View />
    </section>
  );
}
