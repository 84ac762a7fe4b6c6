/** Explains decisions: which entry of the access list decides a request, in one sentence for each privilege. */
import { fault } from '../api/faults.ts';
import { copiesPath, findLacking, needsOf, rightOf } from '../api/rights.ts';
import type { Route } from '../api/route.ts';
import { RouteTable } from '../api/route-table.ts';
import type { Privilege } from '../schema/privilege.ts';
import type { Accounts } from './accounts.ts';
import { decide } from './decide.ts';
import type { EntryRecord, UserRecord } from './records.ts';

/** A request to explain: `target` is its path without the first slash. */
interface ExplainedRequest {
  readonly method: string;
  readonly target: string;
}

/** Returns a function that explains requests of a user. `routes` are read at the first call. @throws account_invalid */
export function explainer(accounts: Accounts, routes: () => readonly Route[]) {
  let table: RouteTable | undefined;
  return (user: UserRecord, { method, target }: ExplainedRequest) => {
    table ??= new RouteTable(routes());
    const match = table.find(method.toUpperCase(), `/${target}`);
    if (!match) throw fault('account_invalid', { reason: `No route answers ${method} /${target}` });
    const subject = { userId: user.user_id, isSuperAdmin: user.is_superadmin };
    const { index } = accounts.store;
    const may = (privilege: Privilege, at: string) => decide(index, subject, privilege, at).allowed;
    const caller = { ...subject, username: user.username, may, isValid: () => true };
    const reasons = needsOf(match).map(({ privilege, path: at }) => {
      const { allowed, by, entry } = decide(index, subject, privilege, at);
      return { privilege, path: at, allowed, sentence: sentenceOf(accounts, { privilege, at, by, entry }) };
    });
    return { username: user.username, allowed: findLacking(match, caller) === undefined, right: rightOf(match), reasons };
  };
}

interface Explained {
  readonly privilege: string;
  readonly at: string;
  readonly by: ReturnType<typeof decide>['by'];
  readonly entry: EntryRecord | undefined;
}

function sentenceOf({ store }: Accounts, { privilege, at, by, entry }: Explained): string {
  if (by === 'superadmin') return 'A super admin may do everything.';
  const place = at.startsWith(copiesPath) ? '/projects, or to a pool of the project' : at;
  if (!entry) return `No entry with ${privilege} applies to ${place}.`;
  const role = store.find('role', entry.role_id)?.name ?? 'unknown';
  const subject = entry.ace_type === 'user' ? 'the user' : `the group '${store.find('group', entry.group_id ?? '')?.name}'`;
  const verb = entry.allowed ? 'grants' : 'refuses';
  return `The entry of ${subject} on ${entry.path} with the role '${role}' ${verb} ${privilege} on ${at}.`;
}
