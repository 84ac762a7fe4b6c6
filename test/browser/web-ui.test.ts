/**
 * A build of GNS3's web UI that an administrator brings. In its place stands a small page of our own that does what the build does first:
 * styles that a handler in `index.html` loads, a script, an address of its own, the login, a list, and the notifications.
 */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { openTab } from '../support/browser.ts';
import { expectStatus, RawClient } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';

const folder = await mkdtemp(join(tmpdir(), 'pb-ui-'));
after(() => rm(folder, { recursive: true }));
const build = join(folder, 'build');
await mkdir(join(build, 'assets'), { recursive: true });
await writeFile(
  join(build, 'index.html'),
  `<!doctype html><html><head><base href="/static/web-ui/"><title>Build</title>
<link rel="stylesheet" href="styles.css" media="print" onload="this.media='all'"></head>
<body><p id="address"></p><ul></ul><p id="feed"></p><script src="main.js" type="module"></script></body></html>`,
);
await writeFile(join(build, 'styles.css'), 'ul { color: rgb(1, 2, 3) }');
await writeFile(
  join(build, 'main.js'),
  `document.querySelector('#address').textContent = location.pathname;
const login = new URLSearchParams({ username: 'admin', password: 'secret' });
const { access_token } = await (await fetch('/v3/access/users/login', { method: 'POST', body: login })).json();
const projects = await (await fetch('/v3/projects', { headers: { authorization: 'Bearer ' + access_token } })).json();
for (const { name } of projects) document.querySelector('ul').append(Object.assign(document.createElement('li'), { textContent: name }));
const feed = new WebSocket('ws://' + location.host + '/v3/notifications/ws?token=' + access_token);
feed.onmessage = ({ data }) => { document.querySelector('#feed').textContent = JSON.parse(data).action; };`,
);
await writeFile(join(build, 'assets', 'a.woff2'), 'font');
await writeFile(join(folder, 'secret.txt'), 'a secret');
await symlink(join(folder, 'secret.txt'), join(build, 'link.txt'));

const server = await startServer({ config: { Server: { auth: true, user: 'admin', password: 'secret', web_ui: build } } });
after(() => server.stop());
const authorization = `Basic ${Buffer.from('admin:secret').toString('base64')}`;
const client = new RawClient(server.url, { authorization });
const stranger = new RawClient(server.url);
after(() => {
  client.close();
  stranger.close();
});
expectStatus(await client.send('POST /v2/projects', { body: { name: 'Lab of today' } }), 201);

describe("a build of GNS3's web UI", () => {
  it('works at its address, at those of its views, and with the login of the server', async () => {
    const { page, problems } = await openTab(`${server.url}/static/web-ui/server/1/projects`);
    await page.getByText('Lab of today').waitFor();
    await page.locator('#feed', { hasText: /./ }).waitFor();
    assert.equal(await page.locator('#address').textContent(), '/static/web-ui/server/1/projects');
    assert.equal(await page.evaluate<string>("getComputedStyle(document.querySelector('ul')).color"), 'rgb(1, 2, 3)');
    assert.deepEqual(problems, []);
  });

  it('is sent to everybody, with types that browsers insist on, and nothing outside its folder', async () => {
    const { headers } = expectStatus(await stranger.send('GET /static/web-ui'), 302);
    assert.equal(headers.location, '/static/web-ui/bundled');
    const types = { bundled: 'text/html', 'main.js': 'text/javascript', 'styles.css': 'text/css', 'assets/a.woff2': 'font/woff2' };
    for (const [path, type] of Object.entries(types)) {
      const answer = expectStatus(await stranger.send(`GET /static/web-ui/${path}`), 200);
      assert.ok(answer.headers['content-type']?.startsWith(type), `${path}: ${answer.headers['content-type']}`);
    }
    for (const path of [
      'link.txt',
      '..%2Fsecret.txt',
      '%2e%2e/secret.txt',
      'assets/../../secret.txt',
      'a%00b',
      '%2Fetc%2Fpasswd',
    ]) {
      const answer = await stranger.send(`GET /static/web-ui/${path}`);
      assert.doesNotMatch(answer.text(), /a secret|root:/, path);
      assert.ok(answer.status < 500, `${path}: ${answer.status}`);
    }
    expectStatus(await stranger.send('GET /v3/projects'), 401);
  });

  it('says what is missing when the folder is empty, and is found there later', async (t) => {
    const other = join(folder, 'later');
    const empty = await startServer({ config: { Server: { web_ui: other } } });
    const asker = new RawClient(empty.url);
    t.after(async () => {
      asker.close();
      await empty.stop();
    });
    assert.match(expectStatus(await asker.send('GET /static/web-ui/bundled'), 404).text(), /web_ui .* has no index\.html/);
    await mkdir(other);
    await writeFile(join(other, 'index.html'), '<p>here');
    assert.equal(expectStatus(await asker.send('GET /static/web-ui/bundled'), 200).text(), '<p>here');
  });
});
