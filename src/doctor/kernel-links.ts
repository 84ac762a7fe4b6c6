/** Whether the kernel can carry links between containers, and between machines, here. */
import { probeCapabilities } from '../fabric/client.ts';
import type { FabricCapabilities } from '../fabric/protocol.ts';
import type { Finding } from '../schema/finding.ts';

/** `ask`: a fabric that runs. Another one that only finds this out takes half a second of processor time. */
export async function lookAtKernelLinks(ask?: () => Promise<FabricCapabilities>): Promise<Finding[]> {
  const capabilities = (await ask?.().catch(() => undefined)) ?? (await probeCapabilities());
  return [linksOfContainers(capabilities), linksOfMachines(capabilities)];
}

function linksOfContainers({ taps, kernelObstacle }: FabricCapabilities): Finding {
  const what = 'links of containers';
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

/** What the namespace of a server says when it is made is in the server's log. */
function linksOfMachines({ taps, kernelObstacle }: FabricCapabilities): Finding {
  const what = 'links of QEMU machines';
  const ofServer = process.geteuid?.() === 0 ? undefined : 'they take a server that runs as root';
  const obstacle = ofServer ?? (taps ? kernelObstacle : 'koffi cannot be loaded');
  return obstacle === null
    ? { state: 'good', what, found: 'TAP interfaces, carried by the kernel while they have no filter and no capture' }
    : { state: 'note', what, found: `stream sockets, which are slower than TAP interfaces: ${obstacle}` };
}
