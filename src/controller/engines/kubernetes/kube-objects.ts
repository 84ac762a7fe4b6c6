/** Fields of Kubernetes' objects that the engine reads. Everything may be absent: another program sends it. */

export interface KubeObject {
  readonly kind?: string;
  readonly metadata?: {
    readonly name?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

export interface KubeList<T> {
  readonly items?: readonly T[];
  readonly metadata?: { readonly continue?: string; readonly resourceVersion?: string };
}

/** The body of a refusal, and the object of an `ERROR` event. */
export interface KubeStatus extends KubeObject {
  readonly code?: number;
  readonly message?: string;
  readonly reason?: string;
}

export interface WatchEvent {
  /** `ADDED`, `MODIFIED`, `DELETED`, `BOOKMARK` or `ERROR`. */
  readonly type: string;
  readonly object: KubeObject;
}

interface KubeCondition {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface KubePod extends KubeObject {
  readonly spec?: { readonly nodeName?: string };
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly conditions?: readonly KubeCondition[];
    readonly containerStatuses?: readonly {
      readonly state?: {
        readonly running?: object;
        readonly waiting?: { readonly reason?: string; readonly message?: string };
        readonly terminated?: { readonly reason?: string; readonly exitCode?: number; readonly message?: string };
      };
    }[];
  };
}

export interface KubeNode extends KubeObject {
  readonly spec?: { readonly unschedulable?: boolean; readonly taints?: readonly { readonly effect?: string }[] };
  readonly status?: { readonly allocatable?: Readonly<Record<string, string>>; readonly conditions?: readonly KubeCondition[] };
}

export interface KubeQuota extends KubeObject {
  readonly status?: { readonly hard?: Readonly<Record<string, string>>; readonly used?: Readonly<Record<string, string>> };
}

const suffixes: Readonly<Record<string, number>> = {
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
};

/** Processors, bytes or a count: `500m`, `4Gi`, `1e3`. Undefined: no quantity. */
export function quantityOf(text: string | undefined): number | undefined {
  const found = /^(\d+(?:\.\d*)?(?:e\d+)?)([mkMGTP]|[KMGTP]i)?$/i.exec(text ?? '');
  const factor = found && suffixes[found[2] ?? ''];
  return factor ? Number(found[1]) * factor : undefined;
}
