/** Schemas of accounts on the wire, as GNS3 3.x has them. */
import { named } from '../../schema/common.ts';
import { type Static, type TSchema, Type } from '../../schema/type.ts';
import { accountNameRule } from '../records.ts';

const optional = <S extends TSchema>(schema: S) => Type.Optional(Type.Union([schema, Type.Null()]));
const text = Type.String();
const textOrNull = Type.Union([Type.String(), Type.Null()]);

const AccountName = Type.String(accountNameRule);
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
const explanation = {
  username: text,
  allowed: Type.Boolean(),
  right: Type.Union([text, Type.Array(text)]),
  reasons: Type.Array(Type.Object({ privilege: text, path: text, allowed: Type.Boolean(), sentence: text })),
};
export const Explanation = Type.Object(explanation, named('AccessExplanation'));
/** Names of users, of whom an account can ask for a right. */
const ask = Type.Array(text, { description: 'names of users who can give the right, at most five' });
export const OwnExplanation = Type.Object({ ...explanation, ask }, named('OwnAccessExplanation'));
export const OwnRights = Type.Object(
  {
    username: text,
    is_superadmin: Type.Boolean(),
    is_administrator: Type.Boolean(),
    rights: Type.Array(
      Type.Object({
        path: text,
        privileges: Type.Array(text),
        below: Type.Array(text, { description: 'privileges that the account has only on something below the path' }),
      }),
    ),
  },
  named('OwnRights'),
);
const levels = [Type.Literal('view'), Type.Literal('work'), Type.Literal('manage')] as const;
const AccessLevel = Type.Union([...levels]);
export type AccessLevel = Static<typeof AccessLevel>;
const AceType = Type.Union([Type.Literal('user'), Type.Literal('group')]);
export const ProjectAccess = Type.Object(
  {
    project_id: text,
    may_change: Type.Boolean(),
    may_read: Type.Boolean({ description: 'false: pools and entries are not shown' }),
    ask,
    pools: Type.Array(Type.Object({ resource_pool_id: text, name: text })),
    entries: Type.Array(
      Type.Object({
        ace_id: text,
        ace_type: AceType,
        name: text,
        path: text,
        role: text,
        level: Type.Union([AccessLevel, Type.Null()]),
        allowed: Type.Boolean(),
        propagate: Type.Boolean(),
        is_own: Type.Boolean({ description: 'on the path of the project itself' }),
        applies: Type.Boolean({ description: 'false: the project is in a pool, whose entries decide' }),
      }),
    ),
  },
  named('ProjectAccess'),
);
export const ShareChange = Type.Object(
  {
    ace_type: AceType,
    name: Type.String({ maxLength: 200, description: 'of the user or group' }),
    level: Type.Union([...levels, Type.Literal('none')], { description: 'none removes the role' }),
  },
  named('ShareChange'),
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
  last_used_at: textOrNull,
};
export const PersonalToken = Type.Object(personalToken, named('PersonalToken'));
export const NewPersonalToken = Type.Object({ ...personalToken, token: text }, named('NewPersonalToken'));
export const UserCreate = Type.Object(
  { username: AccountName, password: Password, email: optional(Email), full_name: optional(FullName) },
  named('UserCreate'),
);
export const UserUpdate = Type.Object(
  {
    username: optional(AccountName),
    is_active: optional(Type.Boolean()),
    is_superadmin: optional(Type.Boolean({ description: 'only a super admin changes it; GNS3 does not have it' })),
    ...personal,
  },
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
export const SetUpBody = Type.Object({ token: Type.String({ maxLength: 100 }), password: Password }, named('SetUp'));
