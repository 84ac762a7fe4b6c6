/** The page that asks for user and password. The server sends it at every address of the page, instead of it. */
import '../style/theme.css';
import '../style/controls.css';
import '../style/fields.css';
import './login.css';

const form = document.querySelector('form');
const problem = document.querySelector('[role=alert]');
const button = document.querySelector('button');
const user = document.querySelector<HTMLInputElement>('#user');
const password = document.querySelector<HTMLInputElement>('#password');

/** The user's choice in the page (`state/theme.ts`). */
const theme = localStorage.getItem('patchbay.theme');
if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;

/** A navigation of this page's own: a reload would count as one of the page that led here, for which the browser sends no cookie. */
const showPage = () => location.replace(location.pathname + location.search);

function say(words: string): void {
  if (problem) problem.textContent = words;
}

async function signIn(): Promise<void> {
  say('');
  if (button) button.disabled = true;
  const answer = await fetch('/login', {
    method: 'POST',
    body: JSON.stringify({ user: user?.value, password: password?.value }),
  }).catch(() => undefined);
  if (button) button.disabled = false;
  if (answer?.ok) return showPage();
  const { message } = ((await answer?.json().catch(() => undefined)) ?? {}) as { message?: string };
  say(message ?? 'The server does not answer');
  password?.select();
  return undefined;
}

form?.addEventListener('submit', (event) => {
  event.preventDefault();
  void signIn();
});
user?.focus();

/** A link on a page of another site leads here although the browser is signed in: it sends no cookie with it. Once only. */
const triedKey = 'patchbay.login-tried';
async function continueSession(): Promise<void> {
  const isTried = sessionStorage.getItem(triedKey) === location.pathname;
  sessionStorage.removeItem(triedKey);
  const answer = isTried ? undefined : await fetch('/login').catch(() => undefined);
  if (!answer?.ok) return;
  sessionStorage.setItem(triedKey, location.pathname);
  showPage();
}
void continueSession();
