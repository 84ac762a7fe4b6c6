/** Files sent in a form, as `curl -F`, browsers and Ansible do: every upload route stores the file of the form, not the form. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { before, describe, test } from 'node:test';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { createNode, createProject, withServer } from '../support/with-server.ts';

const { server, client } = await withServer();
const appliances = resolve(import.meta.dirname, '../../appliances');
const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><rect width="20" height="10"/></svg>';

interface Upload {
  readonly name: string;
  readonly path: string;
  readonly content: string;
  /** Path to read the content back from; not of appliances, which are listed parsed. */
  readonly readPath?: string;
}

describe('a file in a form', () => {
  const uploads: Upload[] = [];
  before(async () => {
    const project = await createProject(client);
    const node = await createNode(client, project, 'vpcs');
    const [file = ''] = (await readdir(appliances)).filter((name) => name.endsWith('.gns3a'));
    const both = (name: string, path: string, content: string) => uploads.push({ name, path, content, readPath: path });
    both('a file of a project', `${project.path}/files/notes/readme.txt`, 'line one\r\nline two');
    both('a file of a node', `${project.path}/nodes/${node.node_id}/files/startup.vpc`, 'ip 10.0.0.1/24\n');
    both('a file of a project at a compute', `${project.computePath}/files/own.txt`, 'own');
    both('a symbol', '/v2/symbols/mine.svg/raw', svg);
    const content = await readFile(join(appliances, file), 'utf8');
    uploads.push({ name: 'an appliance', path: '/v2/appliances/files/mine.gns3a', content });
  });

  const each = async (check: (upload: Upload) => Promise<void>) => {
    assert.equal(uploads.length, 5);
    for (const upload of uploads) await check(upload).catch((error: Error) => assert.fail(`${upload.name}: ${error.message}`));
  };

  test('is stored without the form around it', () =>
    each(async ({ path, content, readPath }) => {
      const form = new FormData();
      form.append('comment', 'some text');
      form.append('file', new Blob([content]), 'any-name');
      const answer = await fetch(`${server.url}${path}`, { method: 'POST', body: form });
      assert.ok(answer.ok, await answer.text());
      if (readPath) assert.equal(expectStatus(await client.send(`GET ${readPath}`), 200).text(), content);
    }));

  test('by itself is stored as before', () =>
    each(async ({ path, content, readPath }) => {
      const { status } = await client.send(`POST ${path}`, { raw: content });
      assert.ok(status === 201 || status === 204, String(status));
      if (readPath) assert.equal(expectStatus(await client.send(`GET ${readPath}`), 200).text(), content);
    }));

  test('is refused when the form is torn or has no file; what was stored stays', () =>
    each(async ({ path, content, readPath }) => {
      const head = '--B\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n';
      expectFault(await client.send(`POST ${path}`, { raw: `${head}torn` }), 400, /form cannot be used.*curl -F file=@FILE/);
      const form = new FormData();
      form.append('file', 'only a text');
      const answer = await fetch(`${server.url}${path}`, { method: 'POST', body: form });
      assert.equal(answer.status, 400);
      assert.match(await answer.text(), /holds no file/);
      if (readPath) assert.equal(expectStatus(await client.send(`GET ${readPath}`), 200).text(), content);
    }));
});
