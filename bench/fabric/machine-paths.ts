/**
 * TCP of a machine with other nodes, each way in turn with what the kernel or QEMU does without a server: to a container and to an interface
 * of the host by a cloud, beside a bridge with a TAP interface and a veth pair (`bridge`); through a switch, beside two TAP interfaces in a
 * bridge (`taps`); and out by a NAT, beside QEMU joined to a passt of its own (`passt`). Without root there are no containers and no clouds.
 */
import { spawn } from 'node:child_process';
import { readlink, stat } from 'node:fs/promises';
import { passtArguments } from '../../src/emulators/nat/passt-command.ts';
import { DockerEngine, noEngine, withLibraries } from '../../test/support/docker-engine.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { createNode, type NodeBody } from '../../test/support/with-server.ts';
import { Turns } from './figures.ts';
import { freePort, measure } from './guests.ts';
import { far, ip, kill, MachineSite, near, type Speaker } from './machine-site.ts';

const image = 'pb-bench';
const behindNat = { address: '192.168.122.100/24', gateway: '192.168.122.1' } as const;
const references: Readonly<Record<string, string>> = { container: 'bridge', cloud: 'bridge', switch: 'taps', nat: 'passt' };

interface Way extends Speaker {
  /** Where the receiver is, as words for iperf3. */
  readonly to: string;
}

export async function measurePaths({ isUser, rounds }: { readonly isUser: boolean; readonly rounds: number }): Promise<void> {
  await using made = new AsyncDisposableStack();
  const engine = isUser || (await noEngine()) ? undefined : await DockerEngine.start();
  made.defer(async () => engine?.stop());
  await engine?.makeImage(`${image}:latest`, ['CMD ["/bin/sh"]', 'STOPSIGNAL SIGKILL'], await withLibraries('iperf3'));
  const config = { NAT: { engine: 'passt', host_access: true }, ...(engine && { Docker: { socket_path: engine.socket } }) };
  const site = made.use(await MachineSite.open({ isUser, config }));
  const host = await receiverOnHost(site);
  const ways: Readonly<Record<string, Way>> = {
    ...(await bridged(site)),
    ...(engine && { container: await toContainer(site) }),
    ...(!isUser && { cloud: await toCloud(site) }),
    switch: await throughSwitch(site),
    passt: await toPasst(site, host),
    nat: await toNat(site, host),
  };
  const turns = new Turns();
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, way] of Object.entries(ways)) turns.note(name, (await measure(way, [], way.to)).mbits);
    console.error(`round ${round + 1}: ${turns.last}`);
  }
  console.log(turns.table('Mbit/s', (way) => references[way] ?? way));
}

const receiver = '10.99.0.2';

/** Two machines and a network of its own, as a container has, in one bridge. */
async function bridged(site: MachineSite): Promise<{ taps: Way; bridge: Way }> {
  const { near, far } = await site.bridgedPair('pbx');
  await far.console.run('iperf3 -s -D');
  await otherNetwork(site, '10.99.0.3/24', 'pbxv');
  await ip(['link set pbxv master pbx']);
  return { taps: { ...speakerOf(near), to: receiver }, bridge: { ...speakerOf(near), to: '10.99.0.3' } };
}

const speakerOf = ({ console }: Speaker): Speaker => ({ console });

/** A network with a receiver behind a veth pair, whose host end has this name. The receiver has a session of its own, as machines have. */
async function otherNetwork({ made }: MachineSite, address: string, hostEnd: string): Promise<void> {
  const own = await readlink('/proc/self/ns/net');
  const child = spawn('unshare', ['--net', 'iperf3', '-s'], { stdio: 'ignore', detached: true });
  made.defer(() => kill(child));
  const network = () => readlink(`/proc/${child.pid}/ns/net`);
  await waitFor(async () => (await network()) !== own, { what: 'a network of its own' });
  await ip([`link add ${hostEnd} type veth peer name eth0 netns ${child.pid}`, `link set ${hostEnd} addrgenmode none up`]);
  await ip([`address add ${address} dev eth0`, 'link set eth0 up'], child.pid);
}

async function toContainer(site: MachineSite): Promise<Way> {
  const project = await site.project();
  const machine = await site.machine(project, 'a', near);
  const properties = { image, adapters: 1 };
  const container = await createNode(site.client, project, 'docker', { name: 'b', properties, console_type: 'telnet' });
  const link = await site.link(project, machine, container);
  await site.start(project);
  // A shell that waits prints nothing.
  const shell = await site.speaker(container, /^/);
  await shell.console.run(`ip addr add ${far} dev eth0; iperf3 -s -D`);
  const speaker = await site.speaker(machine);
  console.error(`container: carried by ${await site.carrier(link)}`);
  return { ...speaker, to: receiver };
}

async function toCloud(site: MachineSite): Promise<Way> {
  await otherNetwork(site, far, 'pbxc');
  const ports_mapping = [{ port_number: 0, name: 'pbxc', type: 'ethernet', interface: 'pbxc' }];
  return linkedMachine(site, near, (project) =>
    createNode(site.client, project, 'cloud', { name: 'c', properties: { ports_mapping } }),
  );
}

async function toNat(site: MachineSite, to: string): Promise<Way> {
  const way = await linkedMachine(site, behindNat.address, (project) => createNode(site.client, project, 'nat', { name: 'n' }));
  return { ...way, to };
}

type Project = Awaited<ReturnType<MachineSite['project']>>;

/** A machine that is linked to another node. */
async function linkedMachine(site: MachineSite, address: string, make: (project: Project) => Promise<NodeBody>): Promise<Way> {
  const project = await site.project();
  const machine = await site.machine(project, 'a', address);
  await site.link(project, machine, await make(project));
  await site.start(project);
  return { ...(await site.speaker(machine)), to: receiver };
}

async function throughSwitch(site: MachineSite): Promise<Way> {
  const project = await site.project();
  const machines = [await site.machine(project, 'a', near), await site.machine(project, 'b', far)] as const;
  const between = await createNode(site.client, project, 'ethernet_switch', { name: 's' });
  for (const [port, machine] of machines.entries()) await site.link(project, machine, between, port);
  await site.start(project);
  const [one, other] = [await site.speaker(machines[0]), await site.speaker(machines[1])];
  await other.console.run('iperf3 -s -D');
  return { ...one, to: receiver };
}

/** QEMU without a server, joined to a passt that has the arguments of the server's. */
async function toPasst(site: MachineSite, to: string): Promise<Way> {
  const socket = `${site.folder}/passt`;
  const args = passtArguments({ socket, resolver: undefined, hostAccess: true, isRoot: true });
  const child = spawn('passt', args, { stdio: 'ignore', detached: true });
  site.made.defer(() => kill(child));
  const isThere = () => stat(socket).then((facts) => facts.isSocket());
  await waitFor(isThere, { what: 'the socket of passt' });
  const netdev = `stream,id=n,server=off,addr.type=unix,addr.path=${socket}`;
  return { ...speakerOf(await site.bare('p', behindNat.address, netdev)), to };
}

/** A receiver on this host's loopback, which guests behind a NAT reach by their gateway's address. */
async function receiverOnHost({ made }: MachineSite): Promise<string> {
  const port = await freePort();
  const child = spawn('iperf3', ['-s', '-B', '127.0.0.1', '-p', String(port)], { stdio: 'ignore', detached: true });
  made.defer(() => kill(child));
  return `${behindNat.gateway} -p ${port}`;
}
