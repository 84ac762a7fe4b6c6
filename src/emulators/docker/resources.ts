/**
 * Provides the folder that every container sees at `/patchbay`: a static busybox, and the script that runs before the image's own command.
 * The script keeps the volumes, waits for the adapters, brings them up, and becomes the command.
 */
import { copyFile, mkdir, open, readFile, rename, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fault } from '../../api/faults.ts';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { commandLine, processFacts } from '../../process/proc.ts';
import { findProgram } from '../host/find-program.ts';

export const resourcesInside = '/patchbay';
export const volumesInside = '/patchbay-volumes';

/**
 * Environment: PATCHBAY_ADAPTERS (number), PATCHBAY_VOLUMES (colon separated), PATCHBAY_HOSTS (lines of a hosts file), PATCHBAY_USER
 * (whom the image names; empty: root). Arguments: the command.
 */
const script = `b=${resourcesInside}/busybox
IFS=:
for volume in $PATCHBAY_VOLUMES; do
  kept="${volumesInside}$volume"
  if [ ! -e "$kept/.patchbay" ]; then
    $b mkdir -p "$volume"
    $b cp -au "$volume/." "$kept/"
    : > "$kept/.patchbay"
  fi
  $b mkdir -p "$volume"
  $b mount -o bind "$kept" "$volume"
done
unset IFS
if [ -n "$PATCHBAY_HOSTS" ] && ! $b grep -q '# Patchbay' /etc/hosts 2>/dev/null; then
  $b mkdir -p /etc
  $b printf '# Patchbay\\n%s\\n' "$PATCHBAY_HOSTS" >> /etc/hosts
fi
$b ip link set lo up
adapter=0
while [ "$adapter" -lt "$PATCHBAY_ADAPTERS" ]; do
  while [ ! -e "/sys/class/net/eth$adapter" ]; do $b usleep 50000; done
  $b ip link set "eth$adapter" up
  adapter=$((adapter + 1))
done
if [ -e /etc/network/interfaces ]; then
  $b mkdir -p /var/run /etc/network/if-pre-up.d /etc/network/if-up.d /etc/network/if-down.d /etc/network/if-post-down.d
  PATH="$PATH:${resourcesInside}/bin" $b ifup -a -f
fi
user="$PATCHBAY_USER"
unset PATCHBAY_ADAPTERS PATCHBAY_VOLUMES PATCHBAY_HOSTS PATCHBAY_USER
if [ -z "$user" ] || [ "$user" = root ] || [ "$user" = 0 ]; then exec "$@"; fi
exec $b su -p -s ${resourcesInside}/sh "$user" -c 'exec "$0" "$@"' "$@"
`;

/** Programs of busybox that the script's own tools look for by name. */
const applets = ['ip', 'ifconfig', 'route', 'run-parts', 'udhcpc', 'sh'];
/** Debian's names for it. */
const candidates = ['busybox-static', 'busybox.static', 'busybox'];

/** Fills the folder, or leaves it as it is. Answers its path. @throws tool_missing */
export async function installResources(folder: string): Promise<string> {
  const busybox = await findStaticBusybox();
  await mkdir(join(folder, 'bin'), { recursive: true });
  if (!(await isCopy(busybox, join(folder, 'busybox')))) {
    const fresh = join(folder, `.busybox.${process.pid}`);
    await copyFile(busybox, fresh);
    await rename(fresh, join(folder, 'busybox'));
  }
  for (const [link, target] of [['sh', 'busybox'], ...applets.map((name) => [`bin/${name}`, '../busybox'])] as [string, string][]) {
    await symlink(target, join(folder, link)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
  const path = join(folder, 'init');
  if ((await readFile(path, 'utf8').catch(() => '')) !== script) await writeFileAtomic(path, script);
  return folder;
}

async function findStaticBusybox(): Promise<string> {
  for (const name of candidates) {
    const path = await findProgram(name);
    if (path !== undefined && (await isStatic(path))) return path;
  }
  throw fault('tool_missing', { tool: 'A static busybox', package: 'busybox-static' });
}

async function isCopy(one: string, other: string): Promise<boolean> {
  const [original, copy] = await Promise.all([stat(one), stat(other).catch(() => undefined)]);
  return copy !== undefined && copy.size === original.size && copy.mtimeMs >= original.mtimeMs;
}

/** PT_INTERP: names the dynamic linker. @see elf(5) */
const interpreterSegment = 3;

/** Whether a program needs nothing beside itself. */
export async function isStatic(path: string): Promise<boolean> {
  const file = await open(path, 'r');
  try {
    const head = Buffer.alloc(4096);
    await file.read(head, 0, head.length, 0);
    if (head.readUInt32BE(0) !== 0x7f454c46 || head[5] !== 1) return false;
    const is64 = head[4] === 2;
    const [offset, size, count] = is64
      ? [Number(head.readBigUInt64LE(32)), head.readUInt16LE(54), head.readUInt16LE(56)]
      : [head.readUInt32LE(28), head.readUInt16LE(42), head.readUInt16LE(44)];
    for (let index = 0, at = offset; index < count && at + 4 <= head.length; index += 1, at += size) {
      if (head.readUInt32LE(at) === interpreterSegment) return false;
    }
    return true;
  } finally {
    await file.close();
  }
}

/** Time that a start waits for our script; the script may take longer where an adapter asks for an address. */
const prepareLimitMs = 3000;
const lookMs = 20;

/** The engine's runtime, which is about to become the script: it answers a start a moment before. */
const runtime = /^(\S*\/)?(runc|crun) /;

/** Waits until the script has become the image's command, or is late; false when it ended instead. */
export async function isPrepared(pid: number): Promise<boolean> {
  const limit = performance.now() + prepareLimitMs;
  while (performance.now() < limit) {
    const { state } = processFacts(pid) ?? { state: 'Z' };
    if (state === 'Z' || state === 'X') return false;
    // Empty while a process becomes another program.
    const line = await commandLine(pid);
    if (line !== '' && !runtime.test(line) && !line.includes(`${resourcesInside}/init`)) return true;
    await sleep(lookMs);
  }
  return true;
}
