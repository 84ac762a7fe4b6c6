/** The Debian package: built here, installed in a copy of this system, serves as its own user, and goes without a trace but for labs. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');
const lacks = ['/usr/bin/dpkg-deb', '/usr/bin/unshare', '/usr/bin/setpriv', '/usr/bin/curl'].find(
  (program) => !existsSync(program),
);
const skip = lacks ? `${lacks} is not installed` : process.getuid?.() !== 0 && 'installing a package needs root';

/** Prints `name=value` lines. The copy is an overlay in namespaces of its own, which end with the script. */
const script = String.raw`
set -eu
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
: >"$1/root/patchbay.deb"
mount --bind "$2" "$1/root/patchbay.deb"
mount -t proc proc "$1/root/proc"
mount --bind /dev "$1/root/dev"
mount -t tmpfs tmpfs "$1/root/run"
mount -t tmpfs tmpfs "$1/root/tmp"
chmod 1777 "$1/root/tmp"
ip link set lo up
exec chroot "$1/root" /bin/bash -eu <<'END'
export HOME=/nonexistent PATH=/usr/sbin:/usr/bin:/sbin:/bin
dpkg --force-depends --force-unsafe-io -i /patchbay.deb >/install.log 2>&1 || { cat /install.log >&2; exit 1; }
echo "version=$(patchbay --version)"
echo "user=$(getent passwd patchbay | cut -d: -f1,6)"
echo "config=$(stat -c '%U:%G %a' /etc/patchbay/patchbay.conf)"
if command -v systemd-analyze >/dev/null; then
  echo "unit=$(systemd-analyze verify --man=no /usr/lib/systemd/system/patchbay.service 2>&1 | grep patchbay.service || true)"
fi
install -d -o patchbay -g patchbay -m 0700 /var/lib/patchbay
# The limits that systemd would set, where root may raise them. A nice value of -10 is a limit of 30.
unit=/usr/lib/systemd/system/patchbay.service
echo "realtime=$(grep -c ^RestrictRealtime "$unit" || true)"
limits="--rtprio=$(sed -n 's/^LimitRTPRIO=//p' "$unit") --nice=$((20 - $(sed -n 's/^LimitNICE=//p' "$unit")))"
prlimit $limits true 2>/dev/null || limits=
XDG_DATA_HOME=/var/lib prlimit $limits setpriv --reuid=patchbay --regid=patchbay --init-groups --no-new-privs --bounding-set=-all \
  patchbay --data-dir /var/lib/patchbay --config /etc/patchbay/patchbay.conf >/server.log 2>&1 &
server=$!
url=http://127.0.0.1:3080
until curl -sf "$url/v2/version" >/dev/null; do
  kill -0 "$server" || { cat /server.log >&2; exit 1; }
  sleep 0.2
done
echo "page=$(curl -s -o /dev/null -w '%{http_code} %{content_type}' "$url/")"
echo "project=$(curl -s -o /dev/null -w '%{http_code}' "$url/v2/projects" -d '{"name": "kept"}')"
# The server answers before its fabric has started.
until grep -q 'listens at' /var/lib/patchbay/state/fabric.log 2>/dev/null; do
  kill -0 "$server" || { cat /server.log >&2; exit 1; }
  sleep 0.2
done
fabric=$(grep -l 'fabric/main[.]js' /proc/[0-9]*/cmdline 2>/dev/null | head -1 | cut -d / -f 3)
echo "fabric=$(chrt --pid "$fabric" | sed -nE 's/.*(policy|priority): //p' | paste -sd ' ')"
echo "doctor=$(prlimit $limits setpriv --reuid=patchbay --regid=patchbay --init-groups --bounding-set=-all patchbay doctor | grep -c 'real time.*as soon as' || true)"
kill "$server"
wait "$server" || true
dpkg --purge patchbay >/purge.log 2>&1 || { cat /purge.log >&2; exit 1; }
echo "left=$(ls -d /usr/lib/patchbay /usr/bin/patchbay /etc/patchbay 2>/dev/null || true)"
echo "labs=$(ls /var/lib/patchbay/projects 2>/dev/null | wc -l)"
END
`;

describe('the Debian package', { skip }, () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'patchbay-package-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('is installed, serves as a user of its own, and is removed without its labs', async () => {
    const build = ['packaging/deb/build.mjs', '--compression', 'none', '--out', folder];
    const { stdout: file } = await run(process.execPath, build, { cwd: root, timeout: 240_000 });
    const mount = join(folder, 'mount');
    await run('mkdir', [mount]);
    const namespaces = ['--mount', '--net', '--pid', '--fork', '--kill-child'];
    const { stdout } = await run('unshare', [...namespaces, 'bash', '-c', script, 'bash', mount, file.trim()], {
      timeout: 120_000,
    });
    // Containers may have no real time for anyone, or forbid root to raise limits: the fabric does without, and doctor says so.
    const isPermitted = await run('prlimit', ['--rtprio=1', '--nice=30', 'chrt', '--rr', '1', 'true']).then(
      () => availableParallelism() > 1,
      () => false,
    );
    const realTime = isPermitted ? { fabric: 'SCHED_RR 1', doctor: '1' } : { fabric: 'SCHED_OTHER 0', doctor: '0' };
    const { version } = JSON.parse((await run('cat', [join(root, 'package.json')])).stdout);
    assert.deepEqual(
      Object.fromEntries(
        stdout
          .trim()
          .split('\n')
          .map((line) => line.split(/=(.*)/s, 2)),
      ),
      {
        version,
        user: 'patchbay:/var/lib/patchbay',
        config: 'root:patchbay 640',
        ...(existsSync('/usr/bin/systemd-analyze') && { unit: '' }),
        page: '200 text/html; charset=utf-8',
        project: '201',
        realtime: '0',
        ...realTime,
        left: '',
        labs: '1',
      },
    );
  });
});
