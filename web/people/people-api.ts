/** Accounts, groups, roles, entries and pools as the server answers them, and their reading. */
import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useApp } from '../state/app.ts';
import { useReadings } from '../ui/readings.ts';

export interface UserAccount {
  readonly user_id: string;
  readonly username: string;
  readonly full_name: string | null;
  readonly email: string | null;
  readonly is_active: boolean;
  readonly is_superadmin: boolean;
  readonly last_login: string | null;
}

export interface UserGroup {
  readonly user_group_id: string;
  readonly name: string | null;
  readonly is_builtin: boolean;
}

export interface RolePrivilege {
  readonly privilege_id: string;
  readonly name: string;
  readonly description: string;
}

export interface Role {
  readonly role_id: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly is_builtin: boolean;
  readonly privileges: readonly RolePrivilege[];
}

export interface AccessEntry {
  readonly ace_id: string;
  readonly ace_type: 'user' | 'group';
  readonly path: string;
  readonly propagate: boolean;
  readonly allowed: boolean;
  readonly user_id: string | null;
  readonly group_id: string | null;
  readonly role_id: string;
}

export interface ResourcePool {
  readonly resource_pool_id: string;
  readonly name: string;
}

export interface AccessToken {
  readonly token_id: string;
  readonly name: string;
  readonly privileges: readonly string[] | null;
  readonly path: string | null;
  readonly created_at: string;
  readonly expires_at: string | null;
}

export interface Loaded<T> {
  readonly value: ReadonlySignal<T | undefined>;
  readonly read: () => Promise<unknown>;
}

/** Reads an answer of the server now, when the path changes, and when accounts or rights change. An empty path reads nothing. */
export function useLoaded<T>(path: string): Loaded<T> {
  const { api, server, toasts } = useApp();
  const value = useSignal<T | undefined>(undefined);
  const begin = useReadings();
  const read = () =>
    toasts.attempt(async () => {
      const inOrder = begin();
      const answer = path === '' ? undefined : await api.get<T>(path);
      inOrder(() => (value.value = answer));
    });
  useEffect(() => void read(), [path, server.rights.changes.value]);
  return { value, read };
}

/** The server's times are UTC without a zone. */
export const timeText = (at: string | null, otherwise: string) => (at ? new Date(`${at}Z`).toLocaleString() : otherwise);
