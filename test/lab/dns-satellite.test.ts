/** DNS and HTTP over a satellite line, between containers of a real engine; and the mistakes that its checks find. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { ServerClient } from '../../cli/server-client.ts';
import { checkApi } from '../../cli/test/check-api.ts';
import { addPrograms } from '../../demo/guest/add-programs.ts';
import { ensureGuest, guestCommandLine } from '../../demo/guest/guest.ts';
import { applyPlan } from '../../lab/apply.ts';
import type { TestReport } from '../../lab/checks/report/test-report.ts';
import { findFirstFailure } from '../../lab/checks/run/step-report.ts';
import { testLab } from '../../lab/checks/test-lab.ts';
import { exportFrom } from '../../lab/export.ts';
import { filesOf } from '../../lab/file/lab-files.ts';
import { loadLab } from '../../lab/file/load-lab.ts';
import { planOn } from '../../lab/open-lab.ts';
import { linesOf } from '../../lab/plan/lab-plan.ts';
import { DockerEngine, noEngine, withLibraries } from '../support/docker-engine.ts';
import { missingPrograms } from '../support/missing-programs.ts';
import { patientFidelity } from '../support/patient-fidelity.ts';
import { assertSameVerdict, skipTwice } from '../support/same-verdict.ts';
import { serverProgram } from '../support/server.ts';
import { withServer } from '../support/with-server.ts';

const labs = resolve(import.meta.dirname, '../../labs');
const skip = await noEngine(['dnsmasq', 'dnsmasq-base'], ['tcpdump', 'tcpdump']);
const noMachine = await missingPrograms(['qemu-system-x86_64', 'qemu-system-x86'], ['mformat', 'mtools']);
const noIperf = await missingPrograms(['iperf3', 'iperf3']);
const folder = await mkdtemp(join(tmpdir(), 'pb-dns-'));
after(() => rm(folder, { recursive: true, force: true }));
const engine = skip === undefined ? await DockerEngine.start() : undefined;
after(() => engine?.stop());
const { server } = await withServer({ config: { Docker: { socket_path: engine?.socket ?? '/nowhere/docker.sock' } } });
const client = new ServerClient({ url: server.url });
const images = { client_image: 'pb-client', server_image: 'pb-server' };

async function run(vars: Record<string, string>, { patience = '15s' } = {}): Promise<TestReport> {
  const text = await readFile(join(labs, 'dns-satellite.yaml'), 'utf8');
  return runText(text.replaceAll('eventually: 60s', `eventually: ${patience}`), { ...images, ...vars });
}

async function runText(text: string, vars: Record<string, string> = {}): Promise<TestReport> {
  const lab = await loadLab({ text, file: 'lab.yaml', files: filesOf({}), vars });
  return testLab(
    checkApi(client),
    { ...lab, test: { ...lab.test, fidelity: patientFidelity } },
    { seed: 7, base: labs, signal: AbortSignal.timeout(170_000), cleanup: client },
  );
}

describe('DNS over a satellite line', { skip, concurrency: true, timeout: 200_000 }, async () => {
  const install = 'RUN ["/bin/busybox", "sh", "-c", "/bin/busybox --install -s /bin; echo root:x:0: > /etc/group"]';
  const lines = [install, 'CMD ["/bin/sh"]', 'STOPSIGNAL SIGKILL'];
  const iperf = noIperf === undefined ? await withLibraries('iperf3') : {};
  await Promise.all([
    engine?.makeImage('pb-client:latest', lines),
    engine?.makeImage('pb-server:latest', lines, { ...iperf, ...(await withLibraries('dnsmasq')) }),
  ]);

  test('passed; the certificate counts the frames that the line held', async () => {
    const report = await run({});
    assert.equal(report.verdict, 'passed', JSON.stringify([findFirstFailure(report.steps), report.certificate?.reasons]));
    // Each direction carries at least the answered ones of ten pings.
    const held = report.certificate?.links.filter(({ delayError }) => delayError.count >= 6) ?? [];
    assert.equal(held.length, 2, JSON.stringify(report.certificate?.links));
  });

  test('the same seed gives the same verdict', { skip: skipTwice }, async () => {
    assertSameVerdict(await run({}), await run({}));
  });

  // Each check waits for answers that are lost.
  test('too much loss makes its check fail', { skip: skipTwice }, async () => {
    const { verdict, steps } = await run({ loss: '95%' });
    assert.equal(verdict, 'failed');
    assert.match(findFirstFailure(steps)?.name ?? '', /as long as a satellite/);
  });

  test('a wrong record makes its check fail', async () => {
    // No answer is lost, and none would become another one.
    const report = await run({ record: '10.0.0.99', loss: '0%' }, { patience: '1s' });
    assert.equal(report.verdict, 'failed');
    assert.match(findFirstFailure(report.steps)?.name ?? '', /the name resolves/);
  });

  test('a line that is too short makes its check fail', async () => {
    const { verdict, steps } = await run({ delay: '20ms' });
    assert.equal(verdict, 'failed');
    assert.match(findFirstFailure(steps)?.name ?? '', /as long as a satellite/);
  });

  const steps = `name: steps
nodes:
  A: { kind: docker, image: pb-client, adapters: 1, files: { kept/page.txt: "kept of \${node}\\n" }, properties: { extra_volumes: [/kept], environment: "X=1\\nY=2" } }
  B: { kind: docker, image: pb-client, adapters: 1, files: { etc/network/interfaces: "auto lo\\n" } }
  PC: { kind: vpcs }
links: [[A, B]]
`;

  test('steps at a container: tcp, traceroute, JSON, exit codes; what a node cannot do is an error that says so', async () => {
    const report = await runText(`${steps}checks:
  - { node: A, run: "ip addr add 10.1.0.1/24 dev eth0; ip link set eth0 up" }
  - { node: B, run: "ip addr add 10.1.0.2/24 dev eth0; ip link set eth0 up; httpd -h /www" }
  - { name: tcp, node: A, tcp: "10.1.0.2:80", eventually: 20s }
  - { name: never open, node: A, tcp: "10.1.0.2:81", never: 1s, every: 300ms }
  - { name: traceroute, node: A, traceroute: 10.1.0.2 }
  - { name: code, node: A, run: "test -e /nowhere", expect: { exit_code: 1 } }
  - { name: wrong code, node: A, run: "test -e /nowhere" }
  - name: json
    node: A
    run: echo '{"a":{"b":7}}'
    expect: { json: { path: $.a.b, equals: 7 } }
  - { name: iperf, node: A, iperf: { to: 10.1.0.2, server: B, seconds: 1 }, expect: { rate: "> 0" } }
`);
    const shown = JSON.stringify(report.steps.map(({ name, problems, evidence }) => [name, problems, evidence]));
    const failed = report.steps.filter(({ outcome }) => outcome !== 'passed').map(({ name }) => name);
    assert.deepEqual(failed, ['wrong code', 'iperf'], shown);
    assert.match(report.steps.at(-1)?.problems[0] ?? '', /the node lacks the program: .*iperf3.*not found/, shown);
    const atPc = `${steps}checks: [{ node: PC, http: "http://10.1.0.2/" }]\n`;
    await assert.rejects(runText(atPc), /the platform vpcs has no command for http/);
  });

  test('steps from a booted virtual machine; its config disk has the label that cloud-init looks for', {
    skip: noMachine,
  }, async () => {
    const plain = await ensureGuest();
    const guest = noIperf === undefined ? await addPrograms(plain, ['iperf3'], join(folder, 'initrd')) : plain;
    const report = await runText(`name: machine
nodes:
  VM:
    kind: qemu
    memory: 192
    properties:
      { adapter_type: virtio-net-pci, hdd_disk_interface: virtio, kernel_image: "${guest.kernel}", initrd: "${guest.initrd}",
        kernel_command_line: "${guestCommandLine('VM', ['10.0.0.1/24'])}" }
    files: { config/meta-data: "instance-id: \${node}\\n", config/user-data: "#cloud-config\\nhostname: \${node}\\n" }
  SERVER: { kind: docker, image: pb-server, adapters: 1 }
links: [[VM, SERVER]]
checks:
  - node: SERVER
    run: |
      ip addr add 10.0.0.2/24 dev eth0
      ip link set eth0 up
      dnsmasq --conf-file=/dev/null --user=root --group=root --no-resolv --no-hosts --pid-file --address=/www.example/10.0.0.2
      httpd -h /www && pidof dnsmasq
  - { node: VM, ping: { to: 10.0.0.2, count: 2 }, eventually: 20s }
  - { node: VM, tcp: "10.0.0.2:80" }
  - { node: VM, tcp: "10.0.0.2:81", expect: { open: false } }
  - { node: VM, http: "http://10.0.0.2/", expect: { body: hello from inside } }
  - { node: VM, http: "http://10.0.0.2/nowhere", expect: { status: 404 } }
  - { node: VM, dns: { name: www.example, server: 10.0.0.2 }, expect: { address: 10.0.0.2 }, eventually: 10s }
  - { node: VM, dns: { name: other.example, server: 10.0.0.2 }, expect: { resolves: false } }
  - { node: VM, traceroute: 10.0.0.2, eventually: 10s }
  - node: VM
    run: mkdir /mnt && mount -t vfat -o ro $(findfs LABEL=CIDATA) /mnt && cat /mnt/meta-data /mnt/user-data
    expect: { match: "^instance-id: VM\\n#cloud-config\\nhostname: VM$" }
  - { name: iperf, node: VM, iperf: { to: 10.0.0.2, server: SERVER, seconds: 1 }, expect: { rate: "> 0" } }
  - { name: no iproute2, node: VM, neighbour: { address: 10.0.0.2 }, expect: { present: false } }
`);
    const shown = JSON.stringify(report.steps.map(({ name, problems, evidence }) => [name, problems, evidence]));
    const failed = report.steps.filter(({ outcome }) => outcome !== 'passed').map(({ name }) => name);
    assert.deepEqual(failed, [...(noIperf === undefined ? [] : ['iperf']), 'no iproute2'], shown);
    assert.match(report.steps.at(-1)?.problems[0] ?? '', /the node lacks the program: iproute2: not found/, shown);
  });

  test('containers are exported to a file that applies to the same thing; exec ends with the code of its command', async () => {
    const api = checkApi(client);
    const lab = await loadLab({ text: steps, file: 'steps.yaml', files: filesOf({}), vars: {} });
    const project = await applyPlan(api, lab, await planOn(api, lab), { start: true });
    const exec = (node: string, line: string, options: readonly string[] = []) =>
      promisify(execFile)(process.execPath, [
        ...[serverProgram, 'lab', 'exec', node, '--project', 'steps', '--url', server.url],
        ...[...options, '--', 'sh', '-c', `'${line}'`],
      ]).then(
        ({ stdout }) => [0, stdout.trim()],
        ({ code, stdout }: { code: number; stdout: string }) => [code, stdout.trim()],
      );
    // The command shows a prompt, and still runs: its exit code cannot be asked for. The rest is checked meanwhile.
    const unfinished = exec('B', 'echo out; printf "~ # "; sleep 60', ['--json', '--timeout', '15']);
    const exported = await exportFrom(api, project);
    assert.match(exported, /^# Not exported: files in the volumes of A\. Add them as `files`\.\n/);
    assert.equal(exported.match(/etc\/network\/interfaces/g)?.length, 1, 'that of A is only the sample');
    const again = await loadLab({ text: exported, file: 'x.yaml', files: filesOf({}) });
    assert.deepEqual(linesOf(await planOn(api, again)), []);
    const copy = { ...again, name: 'steps-copy' };
    const second = await applyPlan(api, copy, await planOn(api, copy));
    assert.deepEqual(linesOf(await planOn(api, copy)), []);
    assert.equal((await exportFrom(api, second)).replace('steps-copy', 'steps'), exported);
    assert.deepEqual(await exec('A', 'cat /kept/page.txt; ln -sf /etc/passwd /etc/network/interfaces'), [0, 'kept of A']);
    assert.equal(await exportFrom(api, project), exported, 'a link to a file outside of the folder is left out');
    assert.deepEqual(await exec('A', 'echo out; exit 37'), [37, 'out']);
    const [code, shown] = await unfinished;
    assert.deepEqual([code, (JSON.parse(String(shown)) as { exit_code: null }).exit_code], [1, null]);
    for (const { project_id } of [project, second]) await client.json('DELETE', `/v2/projects/${project_id}`);
  });
});
