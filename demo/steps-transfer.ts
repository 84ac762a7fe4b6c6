/** A file goes from one virtual machine to the other by TCP, in turn with two machines on TAP interfaces in a bridge of the kernel. */
import { BridgedPair, noBridgedPair } from './bridged-pair.ts';
import type { Console } from './console.ts';
import type { Guest } from './guest/guest.ts';
import { type Outcome, round } from './outcome.ts';
import type { Session } from './session.ts';
import { addresses } from './topology.ts';

/** The file has no blocks, so it takes no memory of the guest. */
const fileMiB = 32;
const rounds = 3;
const limitMs = 120_000;
const serve = `mkdir -p /www && truncate -s ${fileMiB}M /www/file && httpd -h /www`;

interface Way {
  readonly client: Console;
  readonly server: Console;
  readonly address: string;
}

/** Begins to boot the machines that a link is compared with. Resolves once the server is not needed for it any more. */
export async function bootBridgedPair(session: Session): Promise<void> {
  const { api, topology, guest } = session;
  const { command_line } = await api.get<{ command_line: string }>(`${topology.path}/nodes/${topology.vm1.node_id}`);
  const pair = new BridgedPair();
  // An interrupted demo does not wait until they have booted.
  await session.onStop(() => pair.stop());
  session.bridged = booted(pair, guest, command_line);
}

async function booted(pair: BridgedPair, guest: Guest, like: string): Promise<BridgedPair | { readonly reason: string }> {
  const missing = await noBridgedPair();
  if (missing !== undefined) return { reason: missing };
  try {
    await pair.start(guest, like);
    return pair;
  } catch (error) {
    await pair.stop();
    // Where programs may have no namespaces, as in most containers, there is nothing to compare with.
    return { reason: `not measured (${(error as Error).message.split('\n', 1)[0]})` };
  }
}

export async function transfer(session: Session): Promise<Outcome> {
  const { api, topology, consoles } = session;
  const ours: Way = { client: consoles.vm1, server: consoles.vm2, address: addresses.vm2 };
  await ours.server.run(serve);
  const bridged = (await session.bridged) ?? { reason: 'not booted' };
  const pair = 'reason' in bridged ? undefined : bridged;
  try {
    const [client, server] = pair?.consoles ?? [];
    const theirs: Way | undefined = pair && client && server && { client, server, address: pair.address };
    await theirs?.server.run(serve);
    const mbits: number[] = [];
    const ofTaps: number[] = [];
    for (let turn = 0; turn < rounds; turn++) {
      mbits.push(await download(ours));
      if (theirs) ofTaps.push(await download(theirs));
    }
    const { carrier } = await api.get<{ carrier: string }>(`${topology.path}/links/${topology.link.link_id}/stats`);
    const rate = median(mbits);
    const taps = ofTaps.length > 0 ? median(ofTaps) : undefined;
    const beside =
      'reason' in bridged
        ? `TAPs in a bridge: ${bridged.reason}`
        : `${(rate / (taps ?? Number.NaN)).toFixed(2)} of TAPs in a bridge`;
    return {
      expected: pair ? 'carried by the kernel' : 'the file is whole',
      measured: `${Math.round(rate)} Mbit/s, ${beside}; by ${carrier === 'kernel' ? 'the kernel' : carrier}`,
      good: pair === undefined || carrier === 'kernel',
      figures: { mbits: round(rate), taps: taps === undefined ? 'not measured' : round(taps), carrier },
    };
  } finally {
    await pair?.stop();
  }
}

/** Returns the speed of one transfer, Mbit/s. @throws Error when the file does not arrive whole */
async function download({ client, address }: Way): Promise<number> {
  const text = await client.run(`time wget -q -O /dev/null http://${address}/file`, limitMs);
  const [, minutes, seconds] = /real\s+(\d+)m ([\d.]+)s/.exec(text) ?? [];
  if (!text.endsWith('=0=') || seconds === undefined)
    throw new Error(`the file did not arrive: ${JSON.stringify(text.slice(-200))}`);
  return (fileMiB * 1024 * 1024 * 8) / 1e6 / (Number(minutes) * 60 + Number(seconds));
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
