/** Determines the resources that nodes may use: the whole machine, or the remainder in the control group of this server. */
import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { dirname, join } from 'node:path';

interface HostSize {
  /** Processors, 2 decimals. */
  readonly cpus: number;
  /** MiB. */
  readonly memory: number;
}

/**
 * Memory of the server, its fabric and its guard in MiB. They share the nodes' control group, which is killed as a whole when it is
 * full.
 */
const ownMemory = 192;

export function hostSize(): HostSize {
  const total = Math.floor(totalmem() / (1 << 20));
  const limit = Math.floor(process.constrainedMemory() / (1 << 20));
  const memory = limit > 0 && limit < total ? Math.max(0, limit - ownMemory) : total;
  return { cpus: Math.min(availableParallelism(), groupCpus()), memory };
}

/**
 * Processors that the control group of this process and those above it may use; Infinity: as many as there are. Node does not look
 * at them. `root`: for tests.
 * @see cgroups(7); cpu.max of version 2, cpu.cfs_quota_us of version 1
 */
export function groupCpus(root = '/'): number {
  const line = /^(?:0:|\d+:(?:[^:]*,)?cpu(?:,[^:]*)?):(\/.*)$/gm;
  const mounts = ['sys/fs/cgroup', 'sys/fs/cgroup/cpu'];
  const limits = [Number.POSITIVE_INFINITY];
  for (const [, path = '/'] of read(join(root, 'proc/self/cgroup')).matchAll(line)) {
    // A container's mount may begin at its own group, and its path at that of the machine.
    for (let group = path; ; group = dirname(group)) {
      for (const mount of mounts) limits.push(quotaOf(join(root, mount, group)));
      if (group === '/') break;
    }
  }
  return Math.min(...limits);
}

function quotaOf(folder: string): number {
  const words =
    read(join(folder, 'cpu.max')) || `${read(join(folder, 'cpu.cfs_quota_us'))} ${read(join(folder, 'cpu.cfs_period_us'))}`;
  const [quota = 0, period = 0] = words.trim().split(/\s+/).map(Number);
  return quota > 0 && period > 0 ? Math.round((100 * quota) / period) / 100 : Number.POSITIVE_INFINITY;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
