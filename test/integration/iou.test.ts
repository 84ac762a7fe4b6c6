/** IOU nodes, with a program that stands in for an image: `test/support/iou/stand-in.c`. */
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rmdir, stat, truncate, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { readStandIn, skipIou, validLicense } from '../support/iou/build.ts';
import { processesOf } from '../support/leftovers.ts';
import { emulatorUser } from '../support/other-user.ts';
import { Pc } from '../support/pc.ts';
import { expectFault } from '../support/raw-http.ts';
import { openTelnet, type TelnetClient } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle, withServer } from '../support/with-server.ts';

/** Limit for a test that hangs. */
const limitMs = 60_000;

describe('IOU', { skip: skipIou }, async () => {
  const { server, client } = await withServer();
  let project: ProjectHandle;
  let router: NodeBody;
  let bridge: NodeBody;
  const pcs: Pc[] = [];
  const pathOf = ({ node_id }: { node_id: string }) => `${project.path}/nodes/${node_id}`;
  const act = (node: { node_id: string }, verb: string, status = 200) => client.post(`${pathOf(node)}/${verb}`, {}, status);
  const fileOf = (node: NodeBody, name: string) => `project-files/iou/${node.node_id}/${name}`;
  const read = (node: NodeBody, name: string) => readFile(join(String(node.node_directory), name), 'utf8').catch(() => '');
  const imagePids = () =>
    processesOf(server.dataDir, server.runtimeDirectory).flatMap(({ pid, commandLine }) =>
      /^\/iou /.test(commandLine) ? [pid] : [],
    );

  /** The processes have no names of nodes: an image's working folder is that of its node. */
  async function pidOf(node: NodeBody): Promise<number> {
    const { ino } = await stat(String(node.node_directory));
    const found = await Promise.all(imagePids().map(async (pid) => ({ pid, work: await stat(`/proc/${pid}/cwd`) })));
    return found.find(({ work }) => work.ino === ino)?.pid ?? assert.fail(`no image of ${node.name}`);
  }

  /** Reads the console of the image's program: the folder of its node's sockets is the one in which its launcher was started. */
  async function consoleOf(pid: number): Promise<string> {
    const [sockets] = await readdir(`/proc/${pid}/root/tmp`);
    const { ino } = await stat(`/proc/${pid}/root/tmp/${sockets}`);
    for (const name of await readdir(join(server.runtimeDirectory, 'n'))) {
      const folder = join(server.runtimeDirectory, 'n', name);
      if ((await stat(join(folder, 'netio')).catch(() => undefined))?.ino === ino) return join(folder, 'console');
    }
    return assert.fail(`no console of process ${pid}`);
  }

  async function withConsole(node: NodeBody, work: (console: TelnetClient) => Promise<unknown>): Promise<void> {
    const console = await openTelnet(node.console as number);
    try {
      await work(console);
    } finally {
      console.close();
    }
  }
  /** The stand-in answers each line with its prompt. */
  async function type(console: TelnetClient, line: string, shows: RegExp): Promise<void> {
    console.send(`${line}\r`);
    await console.expect(shows, limitMs);
  }

  /** The ends of a link are there some time after their nodes on a busy machine. */
  const reach = (from: Pc, to: Pc) =>
    waitFor(() => from.reaches(to), { limitMs, what: `pings from ${from.address} to ${to.address}` });

  before(async () => {
    const image = await readStandIn();
    assert.equal((await client.send('POST /v2/compute/iou/images/l3.bin', { raw: image })).status, 204);
    const configs = join(server.dataDir, 'configs');
    await mkdir(configs, { recursive: true });
    const config = 'hostname %h\ninterface Ethernet0/0\n ip address 10.0.0.1 255.255.255.0\nend\n';
    await writeFile(join(configs, 'router.txt'), config);
    await writeFile(join(configs, 'secret.txt'), 'private of %h\n');
    project = await createProject(client);
    const files = { startup_config: 'router.txt', private_config: 'secret.txt' };
    router = await createNode(client, project, 'iou', { name: 'R1', properties: { path: 'l3.bin', ...files, nvram: 128 } });
    const adapters = { ethernet_adapters: 1, serial_adapters: 1 };
    bridge = await createNode(client, project, 'iou', { name: 'R2', properties: { path: 'l3.bin', ...files, ...adapters } });
    for (const number of [8, 9]) pcs.push(await Pc.make(client, project, number));
  });

  test('nodes of one compute have numbers of their own', () => {
    assert.deepEqual([router.properties.application_id, bridge.properties.application_id], [1, 2]);
  });

  test('without a licence, and with one that is wrong, a start says so', async () => {
    const start = async () => String(expectFault(await client.send(`POST ${pathOf(router)}/start`, { body: {} }), 409).message);
    await client.put('/v2/iou_license', { iourc_content: '[other]\n' }, 201);
    assert.match(await start(), /licence .* cannot be used: it has no section \[license\]/);
    await client.put('/v2/iou_license', { iourc_content: '[license]\nsome-other-host = 0123456789abcdef;\n' }, 201);
    assert.match(await start(), /no line for this host, .* \(only for some-other-host\)/);
    await client.put('/v2/iou_license', { iourc_content: validLicense().replace(/= .*/, '= 12;') }, 201);
    assert.match(await start(), /is not 16 hexadecimal digits/);
    // A license that only the image can judge, which the check lets pass, too, when it is off.
    await client.put('/v2/iou_license', { iourc_content: validLicense().replace(/= .*/, '= 0123456789abcdef;') }, 201);
    assert.match(await start(), /R1 did not start: it ended with exit code 1: IOU License Error: invalid license/);
    await client.put('/v2/iou_license', { iourc_content: '[other]\n', license_check: false }, 201);
    assert.match(await start(), /R1 did not start: .*invalid license/);
    assert.equal((await client.get<NodeBody>(pathOf(router))).status, 'stopped');
    assert.deepEqual(imagePids(), []);
    await client.put('/v2/iou_license', { iourc_content: validLicense(), license_check: true }, 201);
  });

  test('a file that is no image for this compute is refused with the reason', async () => {
    const images = join(server.dataDir, 'images', 'IOU');
    const image = await readFile(join(images, 'l3.bin'));
    const ios = Buffer.from(image);
    ios[5] = 2;
    const arm = Buffer.from(image);
    arm.writeUInt16LE(183, 18);
    const linker = Buffer.from(image);
    linker.write('/bin/sh\0', linker.indexOf('/lib64/ld-linux'));
    const bad: [name: string, content: Buffer, says: RegExp][] = [
      ['text.bin', Buffer.from('#!/bin/sh\n'.padEnd(100)), /it is not an ELF program/],
      ['ios.bin', ios, /big-endian/],
      ['arm.bin', arm, /for another processor/],
      ['linker.bin', linker, /unknown dynamic linker \/bin\/sh/],
      ['torn.bin', image.subarray(0, 40), /it is not an ELF program/],
    ];
    for (const [name, content, says] of bad) {
      await writeFile(join(images, name), content, { mode: 0o755 });
      await client.put(pathOf(bridge), { properties: { path: name } });
      assert.match(String(expectFault(await client.send(`POST ${pathOf(bridge)}/start`, { body: {} }), 409).message), says);
    }
    await writeFile(join(images, 'plain.bin'), image, { mode: 0o644 });
    await client.put(pathOf(bridge), { properties: { path: 'plain.bin' } });
    const refused = expectFault(await client.send(`POST ${pathOf(bridge)}/start`, { body: {} }), 409);
    assert.match(String(refused.message), /is not executable: chmod \+x/);
    await client.put(pathOf(bridge), { properties: { path: 'l3.bin', nvram: 2 ** 31 - 1 } });
    const tooLarge = expectFault(await client.send(`POST ${pathOf(bridge)}/start`, { body: {} }), 409);
    assert.match(String(tooLarge.message), /nvram is 2147483647 KiB, more than 16384: lower it/);
    await client.put(pathOf(bridge), { properties: { nvram: 256 } });
    const folder = join(String(bridge.node_directory), 'NETMAP');
    await mkdir(folder);
    const blocked = expectFault(await client.send(`POST ${pathOf(bridge)}/start`, { body: {} }), [409, 507]);
    assert.match(String(blocked.message), /NETMAP/);
    await rmdir(folder);
  });

  test('it starts with its configuration, and its console shows it', async () => {
    await act(router, 'start');
    await act(bridge, 'start');
    const started = await client.get<NodeBody>(pathOf(bridge));
    assert.match(String(started.command_line), /\/images\/IOU\/l3\.bin -e 1 -s 1 -n 256 -m 1024 2$/);
    await withConsole(router, async (console) => {
      await type(console, '', /R1>/);
      await type(console, 'show startup', /hostname R1\r\ninterface Ethernet0\/0\r\n ip address 10\.0\.0\.1/);
      await type(console, 'show private', /private of R1/);
      await type(console, 'show interfaces', /2 ethernet 2 serial 128 nvram/);
      assert.doesNotMatch(console.received().toString(), /checksum|no terminal/);
    });
  });

  test('frames pass: pings to the router through a delayed link, and between PCs through the bridge', async () => {
    const [near, far] = pcs as [Pc, Pc];
    const delayed = { nodes: [end(near.node), end(router)], filters: { delay: [20, 0] } };
    const link = await client.post<{ link_id: string }>(`${project.path}/links`, delayed);
    for (const { node } of pcs) await act(node, 'start');
    await reach(near, { address: '10.0.0.1' } as Pc);
    await client.delete(`${project.path}/links/${link.link_id}`);
    await client.post(`${project.path}/links`, { nodes: [end(near.node), end(bridge, 0, 1)] });
    await client.post(`${project.path}/links`, { nodes: [end(far.node), end(bridge, 0, 3)] });
    await reach(near, far);
  });

  test('it survives SIGKILL of the server, and is adopted with its console and its links', async () => {
    const [near, far] = pcs as [Pc, Pc];
    const before = imagePids();
    assert.equal(before.length, 2);
    await server.kill9();
    await server.restart();
    await waitFor(async () => (await client.get<NodeBody>(pathOf(router))).status === 'started', {
      limitMs,
      what: 'the adopted router',
    });
    assert.deepEqual(imagePids(), before);
    for (const pc of pcs) pc.close();
    await reach(near, far);
    await withConsole(router, (console) => type(console, 'show interfaces', /2 ethernet 2 serial 128 nvram/));
  });

  test('a saved configuration is a file at once, and an edited file is the next configuration', async () => {
    await withConsole(router, async (console) => {
      await type(console, 'hostname Edge', /Edge>/);
      await type(console, 'write', /\[OK\]/);
    });
    await waitFor(async () => (await read(router, 'startup-config.cfg')).startsWith('hostname Edge\n'), {
      limitMs,
      what: 'the saved configuration',
    });
    // Written one after the other.
    await waitFor(async () => (await read(router, 'private-config.cfg')) === 'crypto key\n', {
      limitMs,
      what: 'the saved private configuration',
    });
    await act(router, 'stop');
    const edited = 'hostname Core\ninterface Ethernet0/0\n ip address 10.0.0.77 255.255.255.0\nend\n';
    const file = `${project.path}/files/${fileOf(router, 'startup-config.cfg')}`;
    assert.equal((await client.send(`POST ${file}`, { raw: Buffer.from(edited) })).status, 201);
    await act(router, 'start');
    await withConsole(router, async (console) => {
      await type(console, 'show startup', /hostname Core[\s\S]*10\.0\.0\.77/);
      await type(console, 'show private', /crypto key/);
    });
    // A reload has no licence in its request, and needs none.
    await act(router, 'reload');
    await withConsole(router, (console) => type(console, 'show startup', /hostname Core/));
  });

  test('a saved configuration is not lost when the image and the server end before it is a file', async () => {
    const pid = await pidOf(router);
    await server.kill9();
    const console = connect(await consoleOf(pid));
    console.setEncoding('utf8');
    let shown = '';
    console.on('data', (text) => {
      shown += text;
    });
    for (const [line, answer] of [
      ['hostname Late', /Late>/],
      ['write', /\[OK\]/],
      ['show startup', /hostname Late\s+interface/],
    ] as const) {
      // The console replays what it showed before, also an earlier [OK], and perhaps late.
      shown = '';
      console.write(`${line}\r`);
      await waitFor(() => answer.test(shown), { limitMs, what: `the answer to ${line}` });
    }
    console.destroy();
    process.kill(pid, 'SIGKILL');
    await waitFor(() => !imagePids().includes(pid), { limitMs, what: 'the end of the image' });
    await server.restart();
    const nameIn = async (file: string) => /hostname (\w+)\n/.exec(await read(router, file))?.[1];
    // The launcher of the image may end a little after it; then the server saves when it notices.
    await waitFor(async () => (await nameIn('startup-config.cfg')) === 'Late', { limitMs, what: 'the file' }).catch(
      () => undefined,
    );
    const { status } = await client.get<NodeBody>(pathOf(router));
    assert.deepEqual([status, await nameIn('nvram_00001'), await nameIn('startup-config.cfg')], ['stopped', 'Late', 'Late']);
    await act(router, 'start');
    await withConsole(router, (again) => type(again, 'show startup', /hostname Late/));
  });

  test('a log of the console that grows is cut at its start', async () => {
    const log = join(String(router.node_directory), 'console.log');
    await truncate(log, 20 * 2 ** 20);
    await waitFor(async () => (await stat(log)).size < 2 * 2 ** 20, { limitMs, what: 'the shorter log' });
    await withConsole(router, (console) => type(console, 'show interfaces', /ethernet/));
    await waitFor(async () => (await read(router, 'console.log')).endsWith('>'), { limitMs, what: 'new lines in the log' });
  });

  test('it sees nothing of the host, and is not its root', async () => {
    const pids = imagePids();
    assert.equal(pids.length, 2);
    const users = await Promise.all([router, bridge].map(({ node_id }) => emulatorUser(node_id)));
    for (const pid of pids) {
      const status = await readFile(`/proc/${pid}/status`, 'utf8');
      assert.match(status, /^NoNewPrivs:\s+1$/m);
      assert.match(status, /^CapEff:\s+0+$/m);
      assert.ok(
        users.some((user) => status.includes(`\nUid:\t${user}\t`)),
        status,
      );
      for (const path of ['bin/sh', 'etc/passwd', 'proc/self'])
        await assert.rejects(stat(join(`/proc/${pid}/root`, path)), { code: 'ENOENT' }, path);
      const sockets = await readdir(`/proc/${pid}/root/tmp`);
      assert.ok(sockets.length === 1 && users.some((user) => sockets[0] === `netio${user}`), sockets.join(' '));
    }
  });

  test('a copy has a number of its own and the configuration; an image that ends is shown as stopped', async () => {
    await act(router, 'stop');
    const copy = await client.post<NodeBody>(`${pathOf(router)}/duplicate`, { x: 1, y: 1, z: 1 });
    assert.equal(copy.properties.application_id, 3);
    await act(copy, 'start');
    await withConsole(copy, async (console) => {
      await type(console, 'show startup', /hostname R\d[\s\S]*10\.0\.0\.77/);
      console.send('crash\r');
      await console.closed;
    });
    await waitFor(async () => (await client.get<NodeBody>(pathOf(copy))).status === 'stopped', {
      limitMs,
      what: 'the end of the copy',
    });
  });

  test('nothing is left of deleted nodes', async () => {
    for (const pc of pcs) pc.close();
    await client.delete(project.path);
    assert.deepEqual(imagePids(), []);
    assert.deepEqual(
      processesOf(server.dataDir, server.runtimeDirectory).filter(({ commandLine }) => commandLine.includes('socat')),
      [],
    );
    assert.deepEqual(await readdir(join(server.runtimeDirectory, 'n')).catch(() => []), []);
  });
});
