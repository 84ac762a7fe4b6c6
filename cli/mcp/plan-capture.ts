/** Runs an agent's `lab capture`: for some seconds, with the packets as text. */
import { buffer } from 'node:stream/consumers';
import { countPackets, printPackets } from '../../lab/checks/run/capture-packets.ts';
import type { LinkCapture } from '../../src/schema/capture.ts';
import { type CliCall, CliUsageError, textOption } from '../command.ts';
import { getLink, linkName, readParts } from '../lab/find-parts.ts';
import { projectOf } from '../lab/lab-source.ts';
import type { ServerClient } from '../server-client.ts';
import type { AgentChange, MadeChange } from './change.ts';

const usualSeconds = 5;
const mostSeconds = 300;
/** Longest capture file, bytes. */
const mostBytes = 16 * 1024 * 1024;
const shownPackets = 200;

export async function planCapture(call: CliCall): Promise<AgentChange> {
  const parts = await readParts(call.api, await projectOf(call));
  const link = getLink(parts, call.args[0] ?? '');
  const seconds = numberOf(call, 'seconds', { usual: usualSeconds, most: mostSeconds });
  const bytes = numberOf(call, 'bytes', { usual: mostBytes, most: mostBytes });
  const side = call.options.before === true ? 'before' : 'after';
  return {
    preview: `Captures ${linkName(parts, link)} for ${seconds} s, ${side} its filters. The file stays with the project`,
    undo: 'Undoing it deletes the file.',
    make: () =>
      capture(call.api, parts.path, `${parts.path}/links/${link.link_id}/captures`, {
        max_seconds: seconds,
        max_bytes: bytes,
        side,
      }),
  };
}

function numberOf(call: CliCall, name: string, { usual, most }: { usual: number; most: number }): number {
  const number = Number(textOption(call, name) ?? usual);
  if (!Number.isInteger(number) || number < 1 || number > most)
    throw new CliUsageError(`${name} is a whole number from 1 to ${most}`);
  return number;
}

async function capture(api: ServerClient, project: string, captures: string, body: object): Promise<MadeChange> {
  const { capture_id, capture_file_name } = await api.json<LinkCapture>('POST', captures, body);
  let pcap: Buffer;
  try {
    const { body: stream } = await api.send('GET', `${captures}/${capture_id}/pcap`);
    pcap = stream ? await buffer(stream) : Buffer.alloc(0);
  } finally {
    // The capture has ended by itself, unless the call was cancelled.
    await api
      .withoutSignal()
      .json('DELETE', `${captures}/${capture_id}`)
      .catch(() => undefined);
  }
  const { packets } = countPackets(pcap);
  const shown = packets > 0 ? await printPackets(pcap, shownPackets) : '';
  const left = packets > shownPackets ? `\n… ${packets - shownPackets} more packets are in the file.` : '';
  return {
    text: `${packets} packets in ${capture_file_name}${shown === '' ? '' : `\n${shown.trimEnd()}`}${left}`,
    undo: {
      does: `delete ${capture_file_name}`,
      run: async () => {
        await api.json('DELETE', `${project}/captures/${encodeURIComponent(capture_file_name)}`);
        return `Undone: ${capture_file_name} is deleted.`;
      },
    },
  };
}
