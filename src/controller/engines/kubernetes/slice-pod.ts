/** A slice as a bare pod: its manifest, and the slice's state derived from the pod's status. */
import type { IAffinity, IContainer, IPod } from 'kubernetes-models/v1';
import type { Settings } from '../../../schema/settings.ts';
import { joinVariable, type SliceOrder, type SliceReport, type SliceState, sliceArguments } from '../engine.ts';
import type { KubeObject, KubePod } from './kube-objects.ts';

/** Section `[Kubernetes]`, with its command in words. */
export type KubernetesSettings = Omit<Settings['Kubernetes'], 'command' | 'socket' | 'namespace'> & {
  readonly command: readonly string[];
};

const ownerLabel = 'patchbay-owner';
const sliceLabel = 'patchbay-slice';
/** Number of the pod among those of its slice: the newest one counts. */
const attemptLabel = 'patchbay-attempt';
/** User id of the image; any id but root's would do. */
const user = 1000;

export const ownerSelector = (owner: string) => `${ownerLabel}=${owner}`;
export const sliceSelector = (id: string) => `${sliceLabel}=${id}`;
export const sliceOfPod = ({ metadata }: KubeObject) => metadata?.labels?.[sliceLabel];
export const attemptOf = ({ metadata }: KubeObject) => Number(metadata?.labels?.[attemptLabel]) || 0;

interface PodPlace {
  readonly settings: KubernetesSettings;
  readonly attempt: number;
  /** `metadata.uid` of the owner's ConfigMap. */
  readonly ownerUid?: string;
}

/** Satisfies the `restricted` pod security standard. Source: https://kubernetes.io/docs/concepts/security/pod-security-standards/ */
export function podOf(order: SliceOrder, { settings, attempt, ownerUid }: PodPlace): IPod {
  const { claim, owner_config_map: name } = settings;
  const ownerReferences = ownerUid === undefined ? [] : [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid: ownerUid }];
  const data =
    claim === '' ? { emptyDir: { sizeLimit: mebibytes(order.needs.disk) } } : { persistentVolumeClaim: { claimName: claim } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `patchbay-${order.id}-${attempt}`,
      labels: {
        'app.kubernetes.io/name': 'patchbay',
        'app.kubernetes.io/component': 'slice',
        [ownerLabel]: order.owner,
        [sliceLabel]: order.id,
        [attemptLabel]: String(attempt),
      },
      annotations: { 'patchbay-title': order.title },
      ownerReferences,
    },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: settings.grace,
      ...(settings.priority_class !== '' && { priorityClassName: settings.priority_class }),
      securityContext: {
        runAsNonRoot: true,
        runAsUser: user,
        runAsGroup: user,
        fsGroup: user,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      ...(order.host !== undefined && { affinity: onHost(order.host) }),
      containers: [containerOf(order, settings)],
      volumes: [
        { name: 'data', ...data },
        { name: 'tmp', emptyDir: {} },
      ],
    },
  };
}

/** No pre-stop hook: after SIGTERM the slice itself waits while the controller moves its nodes. No probe: the lease is one. */
function containerOf(order: SliceOrder, { image, command, claim, kvm_resource }: KubernetesSettings): IContainer {
  const { cpus, memory, disk, kvm } = order.needs;
  const device = kvm && kvm_resource !== '' ? { [kvm_resource]: '1' } : {};
  // Where the data is not on a claim, it is on the disk of the node, which evicts a pod that uses more than it asked for.
  const storage = claim === '' ? { 'ephemeral-storage': mebibytes(disk + 256) } : {};
  const fixed = { memory: mebibytes(memory), ...storage, ...device };
  return {
    name: 'slice',
    image,
    command: [...command, ...sliceArguments(order), '--data-dir', '/data', '--host', '0.0.0.0'],
    env: [
      { name: joinVariable, value: order.token },
      { name: 'HOME', value: '/tmp' },
    ],
    resources: {
      requests: { cpu: milli(cpus), ...fixed },
      limits: { cpu: milli(Math.ceil(cpus)), ...fixed },
    },
    securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
    volumeMounts: [
      { name: 'data', mountPath: '/data', ...(claim !== '' && { subPath: `slices/${order.id}` }) },
      { name: 'tmp', mountPath: '/tmp' },
    ],
  };
}

function onHost(host: string): IAffinity {
  const isHost = { key: 'kubernetes.io/hostname', operator: 'In' as const, values: [host] };
  return {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [isHost] }] } },
  };
}

const mebibytes = (count: number) => `${Math.max(1, Math.ceil(count))}Mi`;
const milli = (cpus: number) => `${Math.max(1, Math.ceil(cpus * 1000))}m`;

/** Reasons of failed pods whose containers the kubelet has ended or never started, though it does not list them. */
const endedByKubelet =
  /^(Evicted|Preempting|Shutdown|Terminated|NodeShutdown|NodeAffinity|OutOf.*|UnexpectedAdmissionError|UnexpectedPodAdmissionError)$/;
/** Seconds after which a pod that should have ended counts as lost: kubelet and clocks may be late. */
const lateSeconds = 15;

/** `now`: milliseconds since 1970. */
export function reportOfPod(pod: KubePod, now: number): SliceReport {
  const { phase, reason, message } = pod.status ?? {};
  const host = pod.spec?.nodeName ?? null;
  const deleted = dateOf(pod.metadata?.deletionTimestamp);
  const report = (state: SliceState, why: string | null, endsAt: Date | null = null): SliceReport => ({
    id: sliceOfPod(pod) ?? '',
    state,
    reason: why,
    host,
    endsAt,
  });
  if (phase === 'Succeeded' || phase === 'Failed') {
    // The control plane fails pods of nodes that do not answer, without knowing what runs there.
    const isEnded = host === null || terminatedOf(pod).length > 0 || endedByKubelet.test(reason ?? '');
    return isEnded ? report('ended', endOf(pod)) : report('lost', message ?? reason ?? `Node ${host} does not answer.`);
  }
  if (phase === 'Unknown' || reason === 'NodeLost') return report('lost', message ?? `Node ${host} does not answer.`);
  const isRunning = pod.status?.containerStatuses?.some(({ state }) => state?.running) ?? false;
  // The pod has no readiness probe: a container that runs is ready unless its node is silent.
  if (isRunning && conditionOf(pod, 'Ready')?.status === 'False') return report('lost', `Node ${host} does not answer.`);
  if (deleted) {
    if (host !== null && now > deleted.getTime() + lateSeconds * 1000)
      return report('lost', `It should have ended at ${deleted.toISOString()}; node ${host} does not say that it did.`, deleted);
    return report('draining', conditionOf(pod, 'DisruptionTarget')?.message ?? 'It is being ended.', deleted);
  }
  const disruption = conditionOf(pod, 'DisruptionTarget');
  if (disruption?.status === 'True') return report('draining', disruption.message ?? disruption.reason ?? null);
  return phase === 'Running' ? report('running', null) : report('pending', waitOf(pod));
}

function waitOf(pod: KubePod): string | null {
  const scheduled = conditionOf(pod, 'PodScheduled');
  if (scheduled?.status === 'False') return scheduled.message ?? scheduled.reason ?? null;
  const [status] = pod.status?.containerStatuses ?? [];
  const { reason, message } = status?.state?.waiting ?? {};
  if (reason === undefined || reason === 'ContainerCreating' || reason === 'PodInitializing') return null;
  return message === undefined ? reason : `${reason}: ${message}`;
}

function endOf(pod: KubePod): string | null {
  const [end] = terminatedOf(pod);
  if (end?.reason === 'OOMKilled') return 'It used more memory than it had asked for.';
  const { reason, message } = pod.status ?? {};
  if (reason !== undefined) return message === undefined ? reason : `${reason}: ${message}`;
  return end && end.exitCode !== 0 ? `It ended with code ${end.exitCode}${end.message ? `: ${end.message}` : ''}` : null;
}

function terminatedOf(pod: KubePod) {
  return (pod.status?.containerStatuses ?? []).flatMap(({ state }) => state?.terminated ?? []);
}

function conditionOf(pod: KubePod, type: string) {
  return pod.status?.conditions?.find((condition) => condition.type === type);
}

function dateOf(text: string | undefined): Date | undefined {
  const date = new Date(text ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
