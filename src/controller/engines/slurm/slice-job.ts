/** A slice as a batch job: its script, its submission to Slurm, and the slice's state derived from the job's. */

import { jobVariable } from '../../../lib/job-variable.ts';
import type { Settings } from '../../../schema/settings.ts';
import { joinVariable, type SliceOrder, type SliceReport, type SliceState, sliceArguments } from '../engine.ts';
import type { SlurmJob, SlurmNode, SlurmSubmission } from './slurm-client.ts';

/** Section `[Slurm]`, with its command in words. */
export type SlurmSettings = Omit<Settings['Slurm'], 'command'> & { readonly command: readonly string[] };

/** Jobs of one controller have one name, by which `squeue` selects them. */
export function jobName(owner: string): string {
  return `patchbay-${owner.slice(0, 8)}`;
}

/** The comment of a job: `patchbay OWNER SLICE TITLE`. */
export function tagOf(owner: string, slice = ''): string {
  return `patchbay ${owner} ${slice}`;
}

export function sliceOf({ comment }: SlurmJob): string {
  return comment.split(' ', 3)[2] ?? '';
}

export function submissionOf(order: SliceOrder, settings: SlurmSettings): SlurmSubmission {
  const { partition, account, qos, licenses, kvm_feature } = settings;
  const words = {
    partition,
    account,
    qos,
    licenses,
    constraint: order.needs.kvm ? kvm_feature : '',
    nodelist: order.host ?? '',
  };
  return {
    name: jobName(order.owner),
    comment: `${tagOf(order.owner, order.id)} ${order.title.replaceAll(/[^\p{L}\p{N} ._-]/gu, '_')}`,
    script: scriptOf(order, settings),
    environment: { [joinVariable]: order.token },
    folder: '/',
    output: `${settings.output_folder}/patchbay-${order.id}.out`,
    cpus: Math.max(1, Math.ceil(order.needs.cpus)),
    memory: Math.max(1, Math.ceil(order.needs.memory)),
    words: Object.fromEntries(Object.entries(words).filter(([, word]) => word !== '')),
    minutes: settings.minutes > 0 ? settings.minutes : null,
  };
}

/**
 * Writes the script of a slice's job. It ends the processes that a killed server leaves running before the job ends: the slice is
 * placed on another host as soon as Slurm calls the job ended. Where Slurm follows processes by their parents
 * (`proctrack/linuxproc`), it no longer knows the machines. The guard is asked first, and has ten seconds: it ends containers as well,
 * which are processes of their engine.
 *
 * WINCH and TERM end the slice, URG removes its folder as well. A temporary folder is removed in any case. A job that Slurm puts
 * back into its queue does nothing: its first process may still run on a node that only seems to be down, and the controller places
 * the slice again when its lease has run out.
 *
 * slurmctld saves its state some seconds late. If it is killed before, it takes a running job for a waiting one, and starts it a
 * second time without notice. The second run waits until it is cancelled, because the first may still run: again the lease decides.
 */
function scriptOf(order: SliceOrder, { command, data_folder }: SlurmSettings): string {
  const folder = data_folder === '' ? `"\${TMPDIR:-/tmp}"/patchbay-${order.id}` : quote(`${data_folder}/${order.id}`);
  // Other users may write to the folder of temporary files as well, and read in the queue what ours will be called.
  const check = data_folder === '' ? ' && [ ! -L "$folder" ] && [ -O "$folder" ]' : '';
  return `#!/bin/sh
folder=${folder}
remove=${data_folder === '' ? 'yes' : ''}
slice= ended=
end() { ended=yes; [ -z "$slice" ] || kill -TERM "$slice" 2>/dev/null; }
trap end TERM INT WINCH
trap 'remove=yes; end' URG
[ "\${SLURM_RESTART_COUNT:-0}" = 0 ] || exit 0
mkdir -p -m 700 "$folder"${check} || exit 1
if [ "$(cat "$folder/slurm-job" 2>/dev/null)" = "$SLURM_JOB_ID" ]; then
  echo "Slurm has started job $SLURM_JOB_ID a second time, which waits: the first may still run" >&2
  while [ -z "$ended" ]; do sleep 1 & wait $!; done
  # The first may write to it until it ends, too.
  [ -z "$remove" ] || while rm -rf "$folder"; sleep 2; [ -e "$folder" ]; do :; done
  exit 0
fi
echo "$SLURM_JOB_ID" > "$folder/slurm-job" || exit 1
${jobVariable}=$SLURM_JOB_ID ${[...command, ...sliceArguments(order)].map(quote).join(' ')} --data-dir "$folder" &
slice=$!
[ -z "$ended" ] || end
wait "$slice"; code=$?
# A trap interrupts it: the slice is waited for again.
while kill -0 "$slice" 2>/dev/null; do wait "$slice"; code=$?; done
left() { grep -slzx "${jobVariable}=$SLURM_JOB_ID" /proc/[0-9]*/environ; }
for process in $(left); do
  process=\${process%/environ}
  grep -qsz 'slice/guard' "$process/cmdline" || continue
  kill -USR2 "\${process#/proc/}" 2>/dev/null
  looks=0
  while [ -e "$process" ] && [ $looks -lt 100 ]; do sleep 0.1; looks=$((looks + 1)); done
done
while left=$(left); [ -n "$left" ]; do
  for process in $left; do process=\${process%/environ}; kill -KILL "\${process#/proc/}" 2>/dev/null; done
  sleep 0.1
done
[ -z "$remove" ] || rm -rf "$folder"
exit "$code"
`;
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Jobs that will run, or whose processes may. */
const states: Readonly<Record<string, SliceState>> = {
  PENDING: 'pending',
  CONFIGURING: 'pending',
  REQUEUED: 'pending',
  REQUEUE_HOLD: 'pending',
  REQUEUE_FED: 'pending',
  RESV_DEL_HOLD: 'pending',
  SPECIAL_EXIT: 'pending',
  RUNNING: 'running',
  RESIZING: 'running',
  SIGNALING: 'running',
  SUSPENDED: 'suspended',
  STOPPED: 'suspended',
  // The job's processes are being ended, or have ended: nothing can be evicted, and no other job is submitted yet.
  STAGE_OUT: 'running',
  COMPLETING: 'running',
  // Slurm calls a job so whose node does not answer; it may run there.
  NODE_FAIL: 'lost',
  COMPLETED: 'ended',
  FAILED: 'ended',
  TIMEOUT: 'ended',
  CANCELLED: 'ended',
  DEADLINE: 'ended',
  OUT_OF_MEMORY: 'ended',
  BOOT_FAIL: 'ended',
  PREEMPTED: 'ended',
  REVOKED: 'ended',
  LAUNCH_FAILED: 'ended',
};

/** Sentences for the words of Slurm that people meet most; the others are shown as they are. */
const reasons: Readonly<Record<string, string>> = {
  Resources: 'It waits for resources: the nodes that fit are busy.',
  Priority: 'Jobs of higher priority wait before it.',
  QOSMaxCpuPerUserLimit: 'The QOS gives this user no more processors.',
  AssocGrpCpuLimit: 'The account gives no more processors.',
  AssocGrpMemLimit: 'The account gives no more memory.',
  PartitionConfig: 'No node of the partition is as large as it needs.',
  BadConstraints: 'No node has the features and the size that it needs.',
  PartitionTimeLimit: 'Its time limit is longer than the partition allows.',
  ReqNodeNotAvail: 'The node that it needs is down, drained or reserved.',
  Licenses: 'It waits for a licence.',
};

const ends: Readonly<Record<string, string>> = {
  TIMEOUT: 'It reached its time limit.',
  CANCELLED: 'It was cancelled.',
  OUT_OF_MEMORY: 'It used more memory than it had asked for.',
  NODE_FAIL: 'Its node does not answer.',
  PREEMPTED: 'A job of higher priority took its place.',
};

/** `node`: the one that the job runs on, where it is known. */
export function reportOf(job: SlurmJob, node: SlurmNode | undefined): SliceReport {
  const { host, reason } = job;
  const id = sliceOf(job);
  const report = (state: SliceState, why: string | null) => {
    // The end of a job that waits is an estimate.
    const endsAt = state === 'pending' || state === 'ended' ? null : job.endsAt;
    return { id, state, reason: why, host, endsAt };
  };
  // A state that Slurm may get one day is not taken for an end.
  const state = states[job.state] ?? 'lost';
  const hasReason = reason !== '' && reason !== 'None';
  if (state === 'ended') return report(state, ends[job.state] ?? (hasReason ? `${job.state}: ${reason}` : null));
  if (job.restarts > 0)
    return report('lost', 'Slurm put it back into the queue, for its node failed. Its process may still run there.');
  const away = node?.states.find((flag) => flag === 'DOWN' || flag === 'NOT_RESPONDING' || flag === 'NO_RESPOND');
  if (away && state !== 'pending') return report('lost', `Its node ${node?.name} does not answer.`);
  if (job.state === 'COMPLETING') return report(state, 'Slurm is ending it.');
  if (state === 'running' && node?.states.some((flag) => flag === 'DRAIN' || flag === 'DRAINING' || flag === 'DRAINED'))
    return report('draining', `Its node ${node.name} is drained${node.reason === '' ? '' : `: ${node.reason}`}`);
  if (state === 'lost') return report(state, ends[job.state] ?? `Slurm calls it ${job.state}.`);
  if (state === 'suspended') return report(state, 'Slurm has suspended it: it is waited for.');
  return report(state, hasReason && state === 'pending' ? (reasons[reason] ?? `Slurm's reason: ${reason}`) : null);
}
