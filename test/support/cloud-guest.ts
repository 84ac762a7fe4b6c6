/**
 * A guest with Debian's own cloud-init, without systemd: its first process runs the stages of cloud-init in order, as the units of the
 * package do. It starts ifup by its path, as the shell of busybox would run its own. Made of packages that are downloaded and unpacked,
 * not installed, behind the archive of the demo's guest; not kept.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { withLibraryPackages } from '../../demo/containers/libraries.ts';
import { fetchPackages, run } from '../../demo/guest/debian.ts';
import { ensureGuest, type Guest } from '../../demo/guest/guest.ts';

/** MiB: the kernel unpacks 60 MB into memory, and Python needs some. */
export const cloudGuestRamMiB = 512;

/** cloud-init and what its modules import; ifupdown applies the network configuration that it writes. */
const packages = [
  ...['cloud-init', 'python3.11-minimal', 'libpython3.11-minimal', 'libpython3.11-stdlib', 'python3-minimal'],
  ...['configobj', 'six', 'jinja2', 'markupsafe', 'jsonpatch', 'json-pointer', 'jsonschema', 'pyrsistent', 'attr', 'netifaces']
    .concat(['oauthlib', 'requests', 'urllib3', 'idna', 'certifi', 'chardet', 'charset-normalizer', 'serial', 'yaml'])
    .concat(['pkg-resources'])
    .map((name) => `python3-${name}`),
  // Libraries that blkid and ip load, which their packages need before they are unpacked.
  ...['ifupdown', 'iproute2', 'util-linux', 'libblkid1', 'libbpf1', 'libcap2'],
];
const members = ['usr/lib/python3*', '*.so*', 'cloud-init', 'python3*', 'sbin/if*', 'sbin/ip', 'bin/ip', 'blkid', 'etc/cloud'];

const files: Readonly<Record<string, string>> = {
  'etc/passwd': 'root:x:0:0:root:/root:/bin/sh\n',
  'etc/group': 'root:x:0:\nadm:x:4:\n',
  'etc/os-release': 'ID=debian\nVERSION_CODENAME=bookworm\nVERSION_ID="12"\n',
  'etc/cloud/cloud.cfg': `${JSON.stringify({
    disable_root: false,
    cloud_init_modules: ['write-files', 'set_hostname'],
    cloud_config_modules: ['runcmd'],
    cloud_final_modules: ['scripts-user'],
    system_info: { distro: 'debian', paths: { cloud_dir: '/var/lib/cloud/', templates_dir: '/etc/cloud/templates/' } },
  })}\n`,
  'etc/hosts': '127.0.0.1 localhost\n',
  'etc/network/interfaces': 'auto lo\niface lo inet loopback\nsource /etc/network/interfaces.d/*\n',
  init: `#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /tmp /run/network /root /etc/network/interfaces.d /var/log /var/lib/cloud
/bin/busybox --install -s /bin
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=vt100
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for module in $(cat /modules/order); do insmod "/modules/$module"; done
cloud-init init --local
/sbin/ifup -a
cloud-init init
cloud-init modules --mode=config
cloud-init modules --mode=final
export PS1="$(hostname)# "
while :; do setsid cttyhack sh; done
`,
};

/** Builds it in `folder`, which must be empty. @throws Error when the packages cannot be had */
export async function makeCloudGuest(folder: string): Promise<Guest> {
  const guest = await ensureGuest();
  const root = path.join(folder, 'root');
  await mkdir(root);
  await fetchPackages(await withLibraryPackages(packages), folder, members);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    await writeFile(path.join(root, name), text, { mode: name === 'init' ? 0o755 : 0o644 });
  }
  const archive = path.join(folder, 'archive');
  const packed = await run('sh', ['-c', 'cd "$1" && find . | busybox cpio -o -H newc > "$2"', 'pack', root, archive]);
  if (packed.code !== 0) throw new Error(`the archive cannot be made: ${packed.stderr}`);
  const initrd = path.join(folder, 'initrd');
  await writeFile(initrd, Buffer.concat([await readFile(guest.initrd), await readFile(archive)]));
  return { kernel: guest.kernel, initrd };
}
