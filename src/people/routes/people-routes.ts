import type { Route } from '../../api/route.ts';
import type { Accounts } from '../accounts.ts';
import { type AclPlaces, aclRoutes, poolRoutes } from './acl-routes.ts';
import { ownRightsRoutes } from './own-rights-routes.ts';
import { groupRoutes, roleRoutes } from './role-routes.ts';
import { sharingRoutes } from './sharing-routes.ts';
import { userRoutes } from './user-routes.ts';

/** Everything below `/v3/access` and `/v3/pools`. */
export function peopleRoutes(accounts: Accounts, places: AclPlaces): Route[] {
  return [
    ...userRoutes(accounts),
    ...groupRoutes(accounts),
    ...roleRoutes(accounts),
    ...aclRoutes(accounts, places),
    ...poolRoutes(accounts, places),
    ...ownRightsRoutes(accounts, places),
    ...sharingRoutes(accounts, places),
  ];
}
