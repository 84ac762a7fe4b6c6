/** The page of the set-up address. It needs nothing of the built page, which may not be there. */
import { createHash } from 'node:crypto';

const style = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 24rem; margin: 15vh auto; padding: 0 1rem; color-scheme: light dark }
label { display: block; margin-top: 1rem }
input, button { font: inherit; width: 100%; box-sizing: border-box; padding: .5rem }
button { margin-top: 1.5rem }`;

/** The token is behind `#`: browsers send that part to no server, and it is in no log. */
const script = `
const token = location.hash.slice(1);
history.replaceState(null, '', location.pathname);
const form = document.querySelector('form');
const status = document.querySelector('[role=status]');
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const { first, second } = form.elements;
  if (first.value !== second.value) {
    status.textContent = 'The two passwords differ.';
    return;
  }
  const button = form.querySelector('button');
  button.disabled = true;
  try {
    const answer = await fetch('/v3/access/setup', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, password: first.value }),
    });
    if (answer.ok) location.replace('/');
    else status.textContent = (await answer.json()).message;
  } catch {
    status.textContent = 'The server does not answer.';
  } finally {
    button.disabled = false;
  }
});`;

const sourceOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

export const setUpHeaders = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'content-security-policy': [
    "default-src 'none'",
    "connect-src 'self'",
    `script-src ${sourceOf(script)}`,
    `style-src ${sourceOf(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
};

export const setUpPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Patchbay: first password</title>
<style>${style}</style>
<main>
<h1>The administrator's password</h1>
<form>
<label>Password, 8 characters or more
<input name="first" type="password" autocomplete="new-password" minlength="8" maxlength="100" required autofocus></label>
<label>Once more
<input name="second" type="password" autocomplete="new-password" required></label>
<button>Set the password</button>
<p role="status"></p>
</form>
</main>
<script>${script}</script>
</html>
`;
