/** A file goes from one virtual machine to the other by TCP, in turn with two machines on TAP interfaces in a bridge of the kernel. */
import { BridgedPair, noBridgedPair } from './bridged-pair.ts';
import type { Console } from './console.ts';
import { type Outcome, round } from './outcome.ts';
import type { Session } from './session.ts';
import { addresses } from './topology.ts';

/** The file has no blocks, so it takes no memory of the guest. */
const fileMiB = 64;
const rounds = 3;
const limitMs = 120_000;
const serve = `mkdir -p /www && truncate -s ${fileMiB}M /www/file && httpd -h /www`;

interface Way {
  readonly client: Console;
  readonly server: Console;
  readonly address: string;
}

export async function transfer(session: Session): Promise<Outcome> {
  const { api, topology, consoles, guest } = session;
  const ours: Way = { client: consoles.vm1, server: consoles.vm2, address: addresses.vm2 };
  let missing = await noBridgedPair();
  const pair = new BridgedPair();
  // An interrupted demo does not wait until they have booted.
  await session.onStop(() => pair.stop());
  try {
    await ours.server.run(serve);
    if (missing === undefined) {
      const { command_line } = await api.get<{ command_line: string }>(`${topology.path}/nodes/${topology.vm1.node_id}`);
      // Where programs may have no namespaces, as in most containers, there is nothing to compare with.
      await pair.start(guest, command_line).catch((error: Error) => {
        missing = `not measured (${error.message.split('\n', 1)[0]})`;
      });
    }
    const [client, server] = missing === undefined ? pair.consoles : [];
    const theirs: Way | undefined = client && server && { client, server, address: pair.address };
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
    const beside = taps === undefined ? `TAPs in a bridge: ${missing}` : `${(rate / taps).toFixed(2)} of TAPs in a bridge`;
    return {
      expected: missing === undefined ? 'carried by the kernel' : 'the file is whole',
      measured: `${Math.round(rate)} Mbit/s, ${beside}; by ${carrier === 'kernel' ? 'the kernel' : carrier}`,
      good: missing !== undefined || carrier === 'kernel',
      figures: { mbits: round(rate), taps: taps === undefined ? 'not measured' : round(taps), carrier },
    };
  } finally {
    await pair.stop();
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
