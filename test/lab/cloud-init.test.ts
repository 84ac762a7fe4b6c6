/**
 * The config disk of a virtual machine, read by Debian's cloud-init in a booted guest. `npm run fuzz -- 1 cloud-init` runs it: Python takes
 * a minute without hardware acceleration. The disk itself is mounted by a guest in `dns-satellite.test.ts`.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ServerClient } from '../../cli/server-client.ts';
import { checkApi } from '../../cli/test/check-api.ts';
import { testLab } from '../../lab/checks/test-lab.ts';
import { filesOf } from '../../lab/file/lab-files.ts';
import { loadLab } from '../../lab/file/load-lab.ts';
import { cloudGuestRamMiB, makeCloudGuest } from '../support/cloud-guest.ts';
import { patientFidelity } from '../support/patient-fidelity.ts';
import { startServer } from '../support/server.ts';

const skip = process.env.PATCHBAY_TEST_CLOUD_INIT === '1' ? undefined : 'npm run fuzz -- 1 cloud-init';
const limitMs = 1_200_000;

const labText = (kernel: string, initrd: string) => `name: seeded
nodes:
  VM1:
    kind: qemu
    memory: ${cloudGuestRamMiB}
    properties:
      { adapter_type: virtio-net-pci, hdd_disk_interface: virtio, kernel_image: "${kernel}", initrd: "${initrd}",
        kernel_command_line: console=ttyS0 quiet no_timer_check mitigations=off cryptomgr.notests }
    files:
      config/meta-data: "instance-id: \${node}\\n"
      config/user-data: |
        #cloud-config
        hostname: seeded-\${index}
        write_files:
          - {path: /root/written, content: "by write_files of \${node}"}
        runcmd:
          - [sh, -c, "echo by runcmd > /root/ran"]
      config/network-config: |
        version: 2
        ethernets:
          eth0: {addresses: [10.0.0.\${index}/24]}
  PC2: {kind: vpcs, config: "ip 10.0.0.2/24\\n"}
links: [[VM1, PC2]]
checks:
  - { node: VM1, run: "hostname; cat /root/written; echo; cat /root/ran", expect: { match: "^seeded-1\\nby write_files of VM1\\nby runcmd$" } }
  - { node: VM1, ping: 10.0.0.2, eventually: 30s }
  - { node: VM1, run: cloud-init query ds.meta_data.instance_id, limit: 5m, expect: { match: "^VM1$" } }
test:
  fidelity: ${JSON.stringify(patientFidelity)}
  nodes: { VM1: { ready_within: 15m } }
`;

test('a guest with cloud-init takes name, files, commands and addresses from its config disk', {
  skip,
  timeout: limitMs,
}, async () => {
  await using owned = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'pb-cloud-'));
  owned.defer(() => rm(folder, { recursive: true, force: true }));
  const { kernel, initrd } = await makeCloudGuest(folder);
  const server = await startServer({ config: { Qemu: { acceleration: 'off' } } });
  owned.defer(() => server.stop());
  const client = new ServerClient({ url: server.url });
  const lab = await loadLab({ text: labText(kernel, initrd), file: 'lab.yaml', files: filesOf({}) });
  const report = await testLab(checkApi(client), lab, {
    seed: 7,
    base: folder,
    signal: AbortSignal.timeout(limitMs),
    cleanup: client,
  });
  const shown = [report.ready, report.steps.map(({ name, problems, evidence }) => [name, problems, evidence]), report.consoles];
  assert.equal(report.verdict, 'passed', JSON.stringify(shown, null, 1));
});
