/** Abilities of the server for pages: supported commands of each node type, and missing programs of its machine. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Value } from 'typebox/value';
import { implementedTypes } from '../../src/emulators/kinds.ts';
import { Finding } from '../../src/schema/finding.ts';
import { KindFacts } from '../../src/schema/kind.ts';
import { Type } from '../../src/schema/type.ts';
import { createNode, createProject, withServer } from '../support/with-server.ts';

const { client } = await withServer();

describe('the abilities of a server', () => {
  it('are listed for each type of node', async () => {
    const facts = await client.get<KindFacts[]>('/v2/kinds');
    assert.ok(Value.Check(Type.Array(KindFacts), facts));
    assert.deepEqual(facts.map(({ node_type }) => node_type).toSorted(), [...implementedTypes].toSorted());
    const of = (type: string) => facts.find(({ node_type }) => node_type === type);
    assert.deepEqual([of('qemu')?.can.suspend, of('vpcs')?.can.suspend], [true, false]);
    assert.deepEqual([of('qemu')?.can.resize_disk, of('ethernet_switch')?.always_running], [true, true]);
    assert.deepEqual(facts.flatMap(({ node_type, can }) => (can.convert ? [node_type] : [])).toSorted(), ['virtualbox', 'vmware']);
    const emulated = facts.filter(({ emulator }) => emulator).map(({ node_type }) => node_type);
    assert.deepEqual(emulated.toSorted(), ['docker', 'dynamips', 'iou', 'qemu']);
    assert.deepEqual([of('docker')?.images, of('docker')?.engine_images, of('qemu')?.engine_images], [false, true, false]);
    assert.ok(of('qemu')?.console_types.includes('vnc'));
  });

  it('is so: a type that cannot be reset refuses to be', async () => {
    const facts = await client.get<KindFacts[]>('/v2/kinds');
    const project = await createProject(client, { name: 'abilities' });
    for (const type of ['vpcs', 'ethernet_switch'] as const) {
      const { node_id } = await createNode(client, project, type, { name: type });
      const { status } = await client.send(`POST ${project.path}/nodes/${node_id}/reload`, { body: {} });
      assert.equal(status < 300, facts.find(({ node_type }) => node_type === type)?.can.reload, type);
    }
  });

  it('are reported by the doctor of a compute', async () => {
    const findings = await client.get<Finding[]>('/v2/computes/local/doctor');
    assert.ok(Value.Check(Type.Array(Finding), findings));
    assert.ok(findings.some(({ what }) => what === 'KVM'));
    assert.ok(findings.some(({ what, state }) => what === 'socat' && state === 'good'));
    assert.deepEqual(await client.get('/v2/compute/doctor'), findings);
    const { status } = await client.send('GET /v2/computes/nowhere/doctor');
    assert.equal(status, 404);
  });
});
