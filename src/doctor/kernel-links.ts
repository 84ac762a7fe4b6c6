/** Whether the kernel can carry links between containers here. */
import { probeCapabilities } from '../fabric/client.ts';
import type { FabricCapabilities } from '../fabric/protocol.ts';
import type { Finding } from '../schema/finding.ts';

/** `ask`: a fabric that runs. Another one that only finds this out takes half a second of processor time. */
export async function lookAtKernelLinks(ask?: () => Promise<FabricCapabilities>): Promise<Finding> {
  const what = 'links of containers';
  const { taps, kernelObstacle } = (await ask?.().catch(() => undefined)) ?? (await probeCapabilities());
  if (kernelObstacle === null) {
    return {
      state: 'good',
      what,
      found: 'carried by the kernel while they have no filter and no capture, otherwise by the fabric',
    };
  }
  const holder = taps ? 'the fabric' : 'the fabric and a socat for each adapter';
  return { state: 'note', what, found: `carried by ${holder}, which is slower: ${kernelObstacle}` };
}
