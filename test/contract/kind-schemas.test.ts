/** The page builds its forms from the schemas of the kinds: the required properties suffice to create a template. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KindFacts, KindSchemas } from '../../src/schema/kind.ts';
import { withServer } from '../support/with-server.ts';

const { client } = await withServer();
const kinds = await client.get<KindFacts[]>('/v2/kinds');

/** A value that the schema accepts. */
function valueFor(schema: { enum?: unknown[]; type?: string; anyOf?: { const?: unknown }[] }): unknown {
  if (schema.enum) return schema.enum[0];
  return schema.type === 'integer' ? 1 : 'image.bin';
}

describe('the schemas of a kind', () => {
  for (const { node_type, templates } of kinds)
    it(`${node_type}: the required properties suffice for a template`, async () => {
      const { node, template } = await client.get<KindSchemas>(`/v2/kinds/${node_type}/schemas`);
      assert.ok(Object.keys(node.properties).length > 0);
      assert.equal(template !== null, templates);
      if (!template) return;
      const required = template.required.map((key) => [key, valueFor(template.properties[key] as { enum?: unknown[] })]);
      const body = { name: node_type, template_type: node_type, compute_id: 'local', ...Object.fromEntries(required) };
      const made = await client.post<Record<string, unknown>>('/v2/templates', body);
      for (const key of Object.keys(made).filter((one) => one in template.properties)) assert.ok(template.properties[key], key);
    });

  it('depend on the platform where its properties do', async () => {
    const of = (platform: string) => client.get<KindSchemas>(`/v2/kinds/dynamips/schemas?platform=${platform}`);
    const [c7200, c3745] = [await of('c7200'), await of('c3745')];
    assert.ok(c7200.template && 'npe' in c7200.template.properties);
    assert.ok(c3745.template && !('npe' in c3745.template.properties));
  });

  it('of an unknown kind are refused', async () => {
    await assert.rejects(client.get('/v2/kinds/router/schemas'), /router/);
  });
});
