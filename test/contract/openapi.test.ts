/** The server describes its API: as a document for programs and as a page for people. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Compile } from 'typebox/compile';
import type { ApiDocument } from '../../src/api/openapi/document.ts';
import { withServer } from '../support/with-server.ts';

const { client } = await withServer();

describe('the document of the API', () => {
  it('is JSON with every route that answers', async () => {
    const reply = await client.send('GET /openapi.json');
    assert.equal(reply.status, 200);
    assert.equal(reply.headers['content-type'], 'application/json');
    assert.equal(reply.headers['x-route'], '/openapi.json');
    const document = reply.json<ApiDocument>();
    assert.match(document.openapi, /^3\.1\./);
    for (const path of ['/v2/version', '/v2/projects/{project_id}/links', '/v2/compute/capabilities', '/openapi.json'])
      assert.ok(document.paths[path]?.get, path);
    // Whatever it lists without parameters answers; 409: a program that this machine lacks.
    for (const [path, { get }] of Object.entries(document.paths)) {
      if (!get || path.includes('{') || get.responses['101'] || path.endsWith('/notifications')) continue;
      const answer = await client.send(`GET ${path}`);
      const response = get.responses[String(answer.status)];
      assert.ok(answer.status === 409 || response, `${path}: ${answer.status}`);
      const schema = response && 'content' in response ? response.content?.['application/json']?.schema : undefined;
      if (!schema) continue;
      const validator = Compile({ ...schema, components: document.components } as object);
      assert.deepEqual(validator.Errors(answer.json()), [], path);
    }
  });

  it('is a page that needs nothing else', async () => {
    const reply = await client.send('GET /api');
    assert.equal(reply.status, 200);
    assert.match(String(reply.headers['content-type']), /^text\/html/);
    assert.match(String(reply.headers['content-security-policy']), /default-src 'none'/);
    const html = reply.text();
    assert.match(html, /Change filters, suspension, style and labels of a link/);
    assert.match(html, /\/v2\/projects\/\{project_id\}\/links\/\{link_id\}/);
    assert.doesNotMatch(html, /<script|<link|src=|https?:/);
    assert.match(html, /href="#schema-NodeUpdate"/);
    assert.match(html, /id="schema-NodeUpdate"/);
  });
});
