/** Notices captures that have ended by themselves, by a limit or because of the disk. */
import type { FabricLinkStats } from '../../fabric/protocol.ts';
import type { Context } from '../context.ts';
import { capturesOf } from '../store.ts';
import type { ComputeNode } from './node.ts';

/** Interval at which the fabric is asked whether a capture has ended; only while there is one. */
const watchMs = 1000;

interface CaptureWatch {
  readonly context: Context;
  stats(ids: string[]): Promise<FabricLinkStats[]>;
  nodes(): Iterable<ComputeNode>;
}

/** Polls the fabric until the captures are closed. */
export function watchCaptures(parts: CaptureWatch): void {
  const { context } = parts;
  let looking = false;
  const look = async () => {
    if (looking) return;
    looking = true;
    await lookOnce(parts)
      .catch((error) => context.log('warning', `captures: ${error}`))
      .finally(() => {
        looking = false;
      });
  };
  const timer = setInterval(() => void look(), watchMs).unref();
  context.captures.closed.addEventListener('abort', () => clearInterval(timer), { once: true });
}

async function lookOnce({ context, stats, nodes }: CaptureWatch): Promise<void> {
  const { wiring } = context;
  const capturing = wiring.capturing();
  const ids = new Set(capturing.flatMap((binding) => wiring.placeOf(binding)?.linkId ?? []));
  if (ids.size === 0) return;
  const ended = new Map<string, string>();
  for (const { captures = [] } of await stats([...ids])) {
    for (const capture of captures) if (capture.ended !== undefined) ended.set(capture.path, capture.ended);
  }
  if (ended.size === 0) return;
  const byId = new Map(Array.from(nodes(), (node) => [node.id, node]));
  for (const binding of capturing) {
    for (const capture of capturesOf(binding.nio)) {
      const reason = ended.get(capture.path);
      const node = reason === undefined ? undefined : byId.get(binding.nodeId);
      if (node && reason !== undefined) await node.exclusively(() => node.captures.ended(binding, capture, reason));
    }
  }
}
