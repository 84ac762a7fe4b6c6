/** The own account: who it is, its password, and its personal access tokens. */
import './people.css';
import '../style/tables.css';
import { useSignal } from '@preact/signals';
import { useApp } from '../state/app.ts';
import { people } from '../texts/people.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Failure } from '../ui/failure.tsx';
import { TextField } from '../ui/field.tsx';
import { timeText, type UserAccount, useLoaded } from './people-api.ts';
import { TokenList } from './token-list.tsx';

const ownPath = '/v3/access/users/me';

export function AccountDialog({ close, leave }: { readonly close: () => void; readonly leave: () => void }) {
  const own = useLoaded<UserAccount>(ownPath).value.value;
  return (
    <Dialog title={people.account.title} close={close} wide>
      {own ? <Facts own={own} /> : <p class="loading-note">{texts.loading}</p>}
      <section class="people-part">
        <h3>{people.account.password}</h3>
        <PasswordForm leave={leave} />
      </section>
      <section class="people-part">
        <h3>{people.tokens.title}</h3>
        <TokenList />
      </section>
    </Dialog>
  );
}

function Facts({ own }: { readonly own: UserAccount }) {
  const { account } = people;
  const facts = [
    [account.user, own.username],
    [account.fullName, own.full_name],
    [account.email, own.email],
    [account.superAdmin, own.is_superadmin && account.yes],
    [account.lastLogin, timeText(own.last_login, account.never)],
  ] as const;
  return (
    <dl class="facts people-facts">
      {facts.map(
        ([name, value]) =>
          value && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

/** A new password ends all logins, so the page is left for the form of the login. */
function PasswordForm({ leave }: { readonly leave: () => void }) {
  const { api } = useApp();
  const { account } = people;
  const [password, again, failure] = [useSignal(''), useSignal(''), useSignal('')];
  const differs = again.value !== '' && again.value !== password.value;
  const change = async () => {
    failure.value = '';
    try {
      await api.put(ownPath, { password: password.value });
      leave();
    } catch (error) {
      failure.value = (error as Error).message;
    }
  };
  return (
    <>
      <div class="row">
        <TextField label={account.newPassword} value={password.value} onInput={(value) => (password.value = value)} secret />
        <TextField label={account.repeat} value={again.value} onInput={(value) => (again.value = value)} secret />
        <Button disabled={password.value.length < 8 || again.value !== password.value} onClick={() => void change()}>
          {account.change}
        </Button>
      </div>
      <small>{differs ? account.differs : account.passwordHint}</small>
      <Failure text={failure.value} />
    </>
  );
}
