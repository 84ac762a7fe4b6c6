/** Where the API server is, and who asks: a service account inside a cluster, `kubectl proxy --unix-socket`, or an address with a token. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError } from '../engine.ts';

export interface KubeAccess {
  /** `https://10.96.0.1:443`, without a path. */
  readonly origin: string;
  /** Namespace of the slices. */
  readonly namespace: string;
  /** Socket of `kubectl proxy`, which adds the credentials of its kubeconfig. */
  readonly socketPath?: string;
  /** Certificates in PEM form that the server's must lead to. */
  readonly authority?: string;
  /** Read again and again: tokens of service accounts are replaced while they are valid. */
  readonly tokenFile?: string;
}

/** `socket` and `namespace` may be empty. @throws EngineError */
export async function accessOf({
  socket,
  namespace,
}: {
  readonly socket: string;
  readonly namespace: string;
}): Promise<KubeAccess> {
  if (socket !== '') return { origin: 'http://localhost', socketPath: socket, namespace: namespace || 'default' };
  const access = await accessInCluster();
  return { ...access, namespace: namespace || access.namespace };
}

/** Source: https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/ */
const accountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/** @throws EngineError outside of a cluster */
export async function accessInCluster(
  env: Readonly<Record<string, string | undefined>> = process.env,
  folder = accountFolder,
): Promise<KubeAccess> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = env;
  if (!host)
    throw new EngineError(
      'This server runs in no cluster (KUBERNETES_SERVICE_HOST is not set): run "kubectl proxy --unix-socket=FILE" and name the file as socket in [Kubernetes]',
      { isFinal: true },
    );
  const read = (name: string) =>
    readFile(join(folder, name), 'utf8').catch((cause: Error) => {
      throw new EngineError(`The service account of this pod cannot be read: ${cause.message}`, { cause, isFinal: true });
    });
  const [authority, namespace] = await Promise.all([read('ca.crt'), read('namespace')]);
  const origin = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return { origin, authority, tokenFile: join(folder, 'token'), namespace: namespace.trim() };
}
