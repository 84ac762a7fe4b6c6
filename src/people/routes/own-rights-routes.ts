/** `/v3/access/users/me/rights` and `explain`: an account asks about its own rights. */
import { fault } from '../../api/faults.ts';
import { type Caller, isAdministrator, unrestricted } from '../../api/rights.ts';
import { type Route, route } from '../../api/route.ts';
import { type Privilege, privileges } from '../../schema/privilege.ts';
import { Type } from '../../schema/type.ts';
import type { Accounts } from '../accounts.ts';
import { explainer } from '../explain.ts';
import { findManagers } from '../managers.ts';
import type { AclPlaces } from './acl-routes.ts';
import { OwnExplanation, OwnRights } from './schemas.ts';

/** Most paths of one request. */
const mostPaths = 20;
const projectPattern = /^\/?(?:v\d\/)?(projects\/[\w-]+)/;

export function ownRightsRoutes(accounts: Accounts, places: AclPlaces): Route[] {
  const explain = explainer(accounts, places.routes);
  const userOf = (caller: Caller | undefined) =>
    !caller || caller.isAnonymous ? accounts.administrator : accounts.getUser(caller.userId);
  return [
    route(
      'GET /v3/access/users/me/rights',
      {
        summary: 'List the own privileges on paths, and those on anything below them',
        right: 'login',
        own: true,
        query: { paths: Type.String({ description: 'separated by commas; default /' }) },
        reply: OwnRights,
      },
      ({ caller = unrestricted, query }) => {
        const paths = (query.paths ?? '/').split(',');
        const wrong = paths.find((path) => !path.startsWith('/') || path.length > 1000);
        if (wrong !== undefined || paths.length > mostPaths)
          throw fault('invalid_request', { reason: `paths has at most ${mostPaths} paths that begin with /` });
        const { username, is_superadmin } = userOf(caller);
        const rights = [...new Set(paths)].map((path) => rightsOn(accounts, caller, path));
        return { username, is_superadmin, is_administrator: isAdministrator(caller), rights };
      },
    ),
    route(
      'GET /v3/access/users/me/explain/{method}/{target:.+}',
      {
        summary: 'Explain whether the own account may send a request, which entry decides, and whom to ask',
        right: 'login',
        own: true,
        reply: OwnExplanation,
      },
      ({ caller, path }) => {
        const project = projectPattern.exec(path.target)?.[1];
        return { ...explain(userOf(caller), path), ask: findManagers(accounts, project && `/${project}`) };
      },
    ),
  ];
}

/** Lists the privileges that the account has on a path, and those that it has only below: what a client may offer there. */
function rightsOn({ store }: Accounts, caller: Caller, path: string) {
  const { entries, groups } = store.index;
  const prefix = path === '/' ? '/' : `${path}/`;
  const others = privileges.filter((privilege) => !caller.may(privilege, path));
  // A subject may have thousands of entries: what none of them grants is not decided for each.
  const granted = new Map<Privilege, string[]>(others.map((privilege) => [privilege, []]));
  for (const id of [caller.userId, ...(groups.get(caller.userId) ?? [])])
    for (const [lower, ofPath] of entries.get(id) ?? [])
      for (const { record, privileges: given } of lower.startsWith(prefix) ? ofPath : [])
        for (const privilege of record.allowed ? given : []) granted.get(privilege)?.push(lower);
  return {
    path,
    privileges: privileges.filter((privilege) => !others.includes(privilege)),
    below: others.filter((privilege) => granted.get(privilege)?.some((lower) => caller.may(privilege, lower))),
  };
}
