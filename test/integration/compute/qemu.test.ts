/**
 * Virtual machines on a real compute: iPXE in QEMU's own ROM boots without an image and asks for an address about 2.5 s after its
 * start, which is a frame to look for.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { listMarked } from '../../../src/process/orphans.ts';
import { commandLine } from '../../../src/process/proc.ts';
import { makeProject, RemoteCompute, setUp } from './harness.ts';

const nodes = 'POST /v2/compute/projects/{project_id}/qemu/nodes';
const node = '/v2/compute/projects/{project_id}/qemu/nodes/{node_id}';
const nio = `${node}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}/nio`;

interface Vm {
  node_id: string;
  project_id: string;
  console: number;
  status: string;
  node_directory: string;
  command_line: string;
  mac_address: string;
}

describe('virtual machines on a compute', () => {
  let compute: RemoteCompute;
  let folder: string;
  let leave: (last: RemoteCompute) => Promise<void>;
  let project: { project_id: string };
  let vm: Vm;
  let peer: Socket;
  before(async () => {
    ({ compute, folder, leave } = await setUp());
    project = await makeProject(compute);
    peer = createSocket('udp4');
    await new Promise<void>((resolve) => peer.bind(0, '127.0.0.1', resolve));
  });
  after(async () => {
    peer?.close();
    await leave?.(compute);
  });

  const get = (of: Vm) => compute.call<Vm>(`GET ${node}`, of);
  const verb = (of: Vm, word: string) => compute.call<Vm>(`POST ${node}/${word}`, of);
  const bind = (of: Vm, adapter: number, body: object) =>
    compute.call(`POST ${nio}`, { ...of, adapter_number: `${adapter}`, port_number: '0' }, body);
  const small = { ram: 16, platform: 'x86_64', boot_priority: 'n' };

  it('start, and their frames leave as datagrams', async () => {
    vm = await compute.call<Vm>(nodes, project, { name: 'vm', adapters: 1, ...small });
    const { udp_port } = await compute.call<{ udp_port: number }>('POST /v2/compute/projects/{project_id}/ports/udp', project);
    await bind(vm, 0, { type: 'nio_udp', lport: udp_port, rhost: '127.0.0.1', rport: peer.address().port });
    const frame = nextFrame(peer);
    vm = await verb(vm, 'start');
    assert.equal(vm.status, 'started');
    assert.match(vm.command_line, /qemu-system-x86_64/);
    assert.equal((await frame).subarray(6, 12).toString('hex'), vm.mac_address.replaceAll(':', ''));
  });

  it('are suspended and resumed', async () => {
    await verb(vm, 'suspend');
    assert.equal((await get(vm)).status, 'suspended');
    await verb(vm, 'suspend');
    await verb(vm, 'resume');
    await verb(vm, 'resume');
    assert.equal((await get(vm)).status, 'started');
  });

  it('outlive the server, and send frames while it is away', async () => {
    const running = await processes(folder);
    await compute.kill();
    // The guest asks again at growing intervals.
    await nextFrame(peer);
    compute = await RemoteCompute.start(folder);
    assert.deepEqual(await processes(folder), running);
    const now = await get(vm);
    assert.deepEqual([now.status, now.console, now.command_line], ['started', vm.console, vm.command_line]);
    await verb(vm, 'suspend');
    await compute.kill();
    compute = await RemoteCompute.start(folder);
    assert.equal((await get(vm)).status, 'suspended');
    assert.deepEqual(await processes(folder), running);
    await verb(vm, 'start');
    assert.equal((await get(vm)).status, 'started');
  });

  it('are copied while they run, without a notification', async () => {
    compute.events.length = 0;
    const copied = randomUUID();
    const to = await makeProject(compute);
    const body = { destination_project_id: to.project_id, nodes: { [vm.node_id]: copied } };
    await compute.call('POST /v2/compute/projects/{project_id}/copy', project, body);
    assert.deepEqual(compute.events, []);
    assert.deepEqual(await readdir(join(folder, 'projects', body.destination_project_id, 'project-files', 'qemu')), [copied]);
    assert.equal((await get(vm)).status, 'started');
    await compute.call('DELETE /v2/compute/projects/{project_id}', to);
  });

  it('take changes at once or at the next start', async () => {
    const far = { type: 'nio_udp', lport: 26_001, rhost: '127.0.0.1', rport: 26_002 };
    await assert.rejects(bind(vm, 1, far), { code: 'adapter_missing' });
    await compute.call(`PUT ${node}`, vm, { adapters: 2 });
    await assert.rejects(bind(vm, 1, far), { code: 'node_running' });
    await assert.rejects(compute.call(`POST ${node}/resize_disk`, vm, { drive_name: 'hda', extend: 1 }), { code: 'node_running' });
    const before = await processes(folder);
    await verb(vm, 'reload');
    assert.notDeepEqual(await processes(folder), before, 'it was started anew');
    await bind(vm, 1, far);
    await compute.call(`PUT ${node}`, vm, { adapters: 1 });
    const { udp_ports } = await compute.call<{ udp_ports: number[] }>('GET /v2/compute/network/ports');
    assert.ok(!udp_ports.includes(26_001), 'the binding of the adapter that is gone went with it');
  });

  it('report why they ended', async () => {
    const pid = await pidOf(vm);
    process.kill(pid, 'SIGKILL');
    await compute.until('log.error', (events) => events.some(({ action }) => action === 'log.error'));
    assert.equal((await get(vm)).status, 'stopped');
    await verb(vm, 'stop');
    await verb(vm, 'reload');
    assert.equal((await get(vm)).status, 'stopped');
    await assert.rejects(verb(vm, 'resume'), { code: 'node_not_started' });
  });

  it('leave nothing behind when they cannot start', async () => {
    const bad = await compute.call<Vm>(nodes, project, { name: 'bad', options: '-no-such-option', ...small });
    const before = await compute.call('GET /v2/compute/network/ports');
    const running = await processes(folder);
    await assert.rejects(verb(bad, 'start'), /no-such-option/);
    assert.equal((await get(bad)).status, 'stopped');
    assert.deepEqual(await processes(folder), running);
    assert.deepEqual(await readdir(join(folder, 'run', 'n')), []);
    assert.deepEqual(await compute.call('GET /v2/compute/network/ports'), before);
    await compute.call(`DELETE ${node}`, bad);
  });

  it('are stopped and deleted with their project', async () => {
    await verb(vm, 'start');
    const deleting = compute.call('DELETE /v2/compute/projects/{project_id}', project);
    await deleting;
    const { udp_ports, console_ports } = await compute.call<Record<string, number[]>>('GET /v2/compute/network/ports');
    assert.deepEqual([udp_ports, console_ports], [[], []]);
    const lines = await Promise.all((await processes(folder)).map(commandLine));
    assert.deepEqual(
      lines.filter((line) => line.includes('qemu')),
      [],
    );
  });
});

/** The next datagram; firmware that boots on a busy machine takes its time. */
function nextFrame(socket: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const limit = setTimeout(() => reject(new Error('no frame came')), 90_000);
    socket.once('message', (frame) => {
      clearTimeout(limit);
      resolve(frame);
    });
  });
}

async function processes(folder: string): Promise<number[]> {
  return (await listMarked(join(folder, 'run'))).map(({ pid }) => pid).sort();
}

async function pidOf(vm: Vm): Promise<number> {
  for (const { pid } of await listMarked(join(vm.node_directory, '../../../../../run'))) {
    if ((await readFile(`/proc/${pid}/cmdline`, 'utf8')).includes(vm.node_id)) return pid;
  }
  throw new Error(`no process of ${vm.node_id}`);
}
