/**
 * The examples of GNS3's API reference, one after the other on one server: request, status, and the fields that the answer must have. Rewritten
 * from the reference as facts. Where the reference is known to name another status than GNS3 answers, GNS3's own counts. What needs a program
 * that is not here (IOU, Dynamips, VirtualBox, VMware, TraceNG, a Docker engine) is left out of the rows of its kind.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { withServer } from '../support/with-server.ts';
import { controllerExamples } from './documented-examples.ts';
import { kindExamples, lifeOfNode } from './documented-kinds.ts';
import type { Example } from './documented-rows.ts';

const { client } = await withServer();
/** Values of earlier answers, by the names that the rows give them. */
const saved = new Map<string, string>();
// For the tunnel of the cloud: ports are given out from the lowest on.
const { udp_port_range } = await client.get<{ udp_port_range: number[] }>('/v2/compute/network/ports');
saved.set('tunnel', String(udp_port_range[1]));
const fill = (text: string) => text.replace(/<(\w+)>/g, (_, name: string) => saved.get(name) ?? assert.fail(`no ${name} yet`));

async function run({ call, body, raw, status, fields = '', save }: Example): Promise<void> {
  const request = fill(call);
  const filled = () => JSON.parse(fill(JSON.stringify(body)).replaceAll(/"#(\d+)"/g, '$1'));
  const content = raw !== undefined ? { raw } : body === undefined ? {} : { body: filled() };
  const answer = await client.send(request, { ...content, limitMs: 60_000 });
  assert.equal(answer.status, status, `${request}: ${answer.text()}`);
  assert.ok(answer.headers['x-route'] !== undefined, `${request} has no X-Route`);
  const parsed: unknown = fields || save ? answer.json() : undefined;
  const first = (Array.isArray(parsed) ? parsed[0] : parsed) as Record<string, unknown> | undefined;
  for (const field of fields.split(' ').filter(Boolean))
    assert.ok(first && Object.hasOwn(first, field), `${request} answers without ${field}: ${answer.text()}`);
  for (const [name, field] of Object.entries(save ?? {})) saved.set(name, String(first?.[field]));
}

test('there are more than the 185 of the reference, and none is lost', () => {
  assert.equal(controllerExamples.length + kindExamples.reduce((sum, kind) => sum + lifeOfNode(kind).length, 0), 316);
});

test('the controller’s examples', async () => {
  for (const example of controllerExamples) await run(example);
});

describe('the examples of each kind on a compute', () => {
  for (const kind of kindExamples) {
    test(kind.type, async () => {
      for (const example of lifeOfNode(kind)) await run(example);
    });
  }
});
