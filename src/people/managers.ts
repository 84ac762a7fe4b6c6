/** Finds the accounts that can give rights: those whom an account without a right can ask. */
import type { Accounts } from './accounts.ts';
import { decide } from './decide.ts';

/** Most names that are answered. */
const most = 5;

/** Returns names of active users who may change the access list; for a project, also those who may share it. */
export function findManagers(accounts: Accounts, projectPath?: string): string[] {
  const { index } = accounts.store;
  const paths = ['/access/acl', ...(projectPath === undefined ? [] : [projectPath])];
  const names: string[] = [];
  for (const { user_id, username, is_active, is_superadmin } of accounts.listUsers()) {
    if (names.length >= most) break;
    const subject = { userId: user_id, isSuperAdmin: is_superadmin };
    if (is_active && paths.some((path) => decide(index, subject, 'ACE.Allocate', path).allowed)) names.push(username);
  }
  return names;
}
