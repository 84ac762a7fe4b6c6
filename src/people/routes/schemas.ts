/** Schemas of accounts on the wire, as GNS3 3.x has them. */
import { named } from '../../schema/common.ts';
import { type Static, type TSchema, Type } from '../../schema/type.ts';

const optional = <S extends TSchema>(schema: S) => Type.Optional(Type.Union([schema, Type.Null()]));
const text = Type.String();
const textOrNull = Type.Union([Type.String(), Type.Null()]);

/** Name of a user or group. GNS3 checks its length and its tail. */
const AccountName = Type.String({ minLength: 3, maxLength: 200, pattern: '[a-zA-Z0-9_-]+$' });
const Password = Type.String({ minLength: 8, maxLength: 100 });
const Email = Type.String({ maxLength: 254, pattern: '^[^@\\s]+@[^@\\s.]+(\\.[^@\\s.]+)+$' });
const FullName = Type.String({ maxLength: 500 });

const personal = { email: optional(Email), full_name: optional(FullName), password: optional(Password) };

export const Credentials = Type.Object({ username: text, password: text }, named('Credentials'));
export const RefreshToken = Type.Object({ refresh_token: text }, named('RefreshToken'));
export const Token = Type.Object({ access_token: text, refresh_token: text, token_type: text }, named('Token'));
export const UserObject = Type.Object(
  {
    user_id: text,
    username: text,
    email: textOrNull,
    full_name: textOrNull,
    is_active: Type.Boolean(),
    is_superadmin: Type.Boolean(),
    last_login: textOrNull,
    created_at: text,
    updated_at: text,
  },
  named('User'),
);
const dates = { created_at: text, updated_at: text };
export const GroupObject = Type.Object(
  { user_group_id: text, name: textOrNull, is_builtin: Type.Boolean(), ...dates },
  named('UserGroup'),
);
export const PrivilegeObject = Type.Object({ privilege_id: text, name: text, description: text, ...dates }, named('Privilege'));
export const RoleObject = Type.Object(
  {
    role_id: text,
    name: textOrNull,
    description: textOrNull,
    is_builtin: Type.Boolean(),
    privileges: Type.Array(PrivilegeObject),
    ...dates,
  },
  named('Role'),
);
export const EntryObject = Type.Object(
  {
    ace_id: text,
    ace_type: Type.Union([Type.Literal('user'), Type.Literal('group')]),
    path: text,
    propagate: Type.Boolean(),
    allowed: Type.Boolean(),
    user_id: textOrNull,
    group_id: textOrNull,
    role_id: text,
    ...dates,
  },
  named('ACE'),
);
export const EntryPath = Type.Object({ endpoint: text, name: text, endpoint_type: text }, named('ACEEndpoint'));
export const Explanation = Type.Object(
  {
    username: text,
    allowed: Type.Boolean(),
    right: Type.Union([text, Type.Array(text)]),
    reasons: Type.Array(Type.Object({ privilege: text, path: text, allowed: Type.Boolean(), sentence: text })),
  },
  named('AccessExplanation'),
);
export const PoolObject = Type.Object({ resource_pool_id: text, name: text, ...dates }, named('ResourcePool'));
export const PoolResource = Type.Object(
  { resource_id: text, resource_type: Type.Literal('project'), name: textOrNull, ...dates },
  named('PoolResource'),
);
const personalToken = {
  token_id: text,
  name: text,
  privileges: Type.Union([Type.Array(text), Type.Null()]),
  path: textOrNull,
  created_at: text,
  expires_at: textOrNull,
};
export const PersonalToken = Type.Object(personalToken, named('PersonalToken'));
export const NewPersonalToken = Type.Object({ ...personalToken, token: text }, named('NewPersonalToken'));
export const UserCreate = Type.Object(
  { username: AccountName, password: Password, email: optional(Email), full_name: optional(FullName) },
  named('UserCreate'),
);
export const UserUpdate = Type.Object(
  { username: optional(AccountName), is_active: optional(Type.Boolean()), ...personal },
  named('UserUpdate'),
);
export const OwnUserUpdate = Type.Object(personal, named('LoggedInUserUpdate'));
export const GroupCreate = Type.Object({ name: Type.Union([AccountName, Type.Null()]) }, named('UserGroupCreate'));
export const GroupUpdate = Type.Object({ name: optional(AccountName) }, named('UserGroupUpdate'));
const RoleName = Type.String({ maxLength: 200 });
export const RoleCreate = Type.Object({ name: RoleName, description: optional(FullName) }, named('RoleCreate'));
export const RoleUpdate = Type.Object({ name: optional(RoleName), description: optional(FullName) }, named('RoleUpdate'));
export const EntryCreate = Type.Object(
  {
    ace_type: Type.Union([Type.Literal('user'), Type.Literal('group')]),
    path: Type.String({ maxLength: 1000 }),
    propagate: optional(Type.Boolean()),
    allowed: optional(Type.Boolean()),
    user_id: optional(text),
    group_id: optional(text),
    role_id: text,
  },
  named('ACECreate'),
);
export type EntryCreate = Static<typeof EntryCreate>;
export const PoolCreate = Type.Object({ name: Type.String({ maxLength: 200 }) }, named('ResourcePoolCreate'));
export const TokenCreate = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100 }),
    expires_in_days: optional(Type.Integer({ minimum: 1, maximum: 3650, description: 'default 365' })),
    privileges: optional(Type.Array(text, { maxItems: 45, description: 'names of privileges; default: all of the user' })),
    path: optional(Type.String({ maxLength: 1000, description: 'the token may do nothing beside or above this path' })),
  },
  named('PersonalTokenCreate'),
);
