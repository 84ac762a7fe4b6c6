/** Personal access tokens: the list, a form that makes one, and the secret of a new one. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { useApp } from '../state/app.ts';
import { people } from '../texts/people.ts';
import { texts } from '../texts.ts';
import { ask } from '../ui/ask.tsx';
import { Button } from '../ui/button.tsx';
import { copyText } from '../ui/copy-text.ts';
import { NumberField, TextField } from '../ui/field.tsx';
import { type AccessToken, type RolePrivilege, timeText, useLoaded } from './people-api.ts';
import { PrivilegeChoice } from './privilege-choice.tsx';

const tokensPath = '/v3/access/users/me/tokens';

export function TokenList() {
  const app = useApp();
  const { tokens } = people;
  const { value, read } = useLoaded<readonly AccessToken[]>(tokensPath);
  const secret = useSignal('');
  const revoke = ({ token_id, name }: AccessToken) =>
    app.toasts.attempt(async () => {
      if (!(await ask(app, { ...tokens.askRevoke(name), danger: true }))) return;
      await app.api.delete(`${tokensPath}/${token_id}`);
      await read();
    });
  const made = async (text: string) => {
    secret.value = text;
    await read();
  };
  return (
    <>
      <p>{tokens.text}</p>
      {value.value?.length === 0 && <p class="empty">{tokens.none}</p>}
      {value.value && value.value.length > 0 && <TokenTable list={value.value} revoke={(token) => void revoke(token)} />}
      {secret.value !== '' && <Secret text={secret.value} />}
      <NewToken made={made} />
    </>
  );
}

interface TokenTableProps {
  readonly list: readonly AccessToken[];
  readonly revoke: (token: AccessToken) => void;
}

function TokenTable({ list, revoke }: TokenTableProps) {
  const { tokens } = people;
  return (
    <div class="table-area">
      <table class="data-table people-table" aria-label={tokens.title}>
        <thead>
          <tr>
            {tokens.columns.map((column) => (
              <th key={column} scope="col">
                {column || <span class="unseen">{tokens.revoke}</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {list.map((token) => (
            <tr key={token.token_id}>
              <th scope="row">{token.name}</th>
              <td title={token.privileges?.join(', ')}>{limitsOf(token)}</td>
              <td>{timeText(token.created_at, '')}</td>
              <td>{timeText(token.expires_at, people.account.never)}</td>
              <td>
                <Button icon="trash" kind="quiet" label={tokens.revokeOf(token.name)} onClick={() => revoke(token)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function limitsOf({ privileges, path }: AccessToken): string {
  const { tokens } = people;
  const limits = [privileges && tokens.privileges(privileges.length), path && tokens.below(path)].filter(Boolean);
  return limits.length > 0 ? limits.join(', ') : tokens.all;
}

function Secret({ text }: { readonly text: string }) {
  const { toasts } = useApp();
  const field = useRef<HTMLInputElement>(null);
  const { tokens } = people;
  return (
    <div class="row people-secret" role="status">
      <div class="field">
        <label for="new-token">{tokens.secret}</label>
        <input id="new-token" ref={field} readOnly value={text} onFocus={() => field.current?.select()} />
      </div>
      <Button icon="copy" onClick={() => copyText(field.current) && toasts.show('done', tokens.copied)}>
        {tokens.copy}
      </Button>
    </div>
  );
}

function NewToken({ made }: { readonly made: (secret: string) => Promise<void> }) {
  const { api, toasts } = useApp();
  const { tokens } = people;
  const [name, path, days] = [useSignal(''), useSignal(''), useSignal(365)];
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const known = useLoaded<readonly RolePrivilege[]>('/v3/access/privileges').value.value ?? [];
  const make = () =>
    toasts.attempt(async () => {
      const { token } = await api.post<{ token: string }>(tokensPath, {
        name: name.value.trim(),
        expires_in_days: days.value,
        ...(path.value.trim() !== '' && { path: path.value.trim() }),
        ...(chosen.value.size > 0 && { privileges: [...chosen.value] }),
      });
      name.value = '';
      path.value = '';
      chosen.value = new Set();
      await made(token);
    });
  return (
    <>
      <div class="row">
        <TextField label={texts.name} value={name.value} onInput={(value) => (name.value = value)} />
        <NumberField label={tokens.days} value={days.value} minimum={1} maximum={3650} onChange={(value) => (days.value = value)} />
      </div>
      <TextField label={tokens.path} hint={tokens.pathHint} value={path.value} onInput={(value) => (path.value = value)} />
      <details>
        <summary>{tokens.limit}</summary>
        <PrivilegeChoice known={known} chosen={chosen.value} choose={(next) => (chosen.value = next)} />
      </details>
      <div class="row">
        <Button icon="plus" disabled={name.value.trim() === ''} onClick={() => void make()}>
          {tokens.make}
        </Button>
      </div>
    </>
  );
}
