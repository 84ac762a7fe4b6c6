/**
 * A thread that reads one project file, so that a large one never holds up the server. What it found goes to the server in pieces
 * of JSON, the next one when the last was taken: what a thread sends as a value would be put together there in one go as well.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { fault, isFault } from '../../api/faults.ts';
import { isDeeper } from '../../lib/json-depth.ts';
import { readRegularFileSync } from '../../lib/regular-file.ts';
import { FreshIds, withNewIdentity } from './fresh-ids.ts';
import { checkFile, listedEntry, mostLevels, oldFileFacts } from './topology-file.ts';
import type { FilePiece, Task } from './topology-reader.ts';

/** Length of a piece in characters. */
const pieceLength = 256 * 1024;
/** Length limits of an entry in characters. No request creates a longer one; a picture may be large. */
const longest = { nodes: 2 * 1024 ** 2, links: 2 * 1024 ** 2, computes: 2 * 1024 ** 2, drawings: 16 * 1024 ** 2 };
/** Limit of nodes, links and computes each: every value costs time when the project is adopted. */
const mostValues = 50_000;

const task = workerData as Task;

try {
  await run(bytesOf(task));
  send({ what: 'end' });
} catch (error) {
  const reason = error instanceof RangeError ? 'it is too large or nested too deep' : (error as Error).message;
  const known = isFault(error) ? error : fault('project_damaged', { name: task.name, reason });
  send({ what: 'fault', code: known.code, message: known.message });
}

function bytesOf({ source, maxBytes }: Task): Buffer {
  return typeof source === 'string' ? readRegularFileSync(source, maxBytes) : Buffer.from(source);
}

async function run(bytes: Buffer): Promise<void> {
  if (task.want === 'topology') return sendTopology(bytes);
  if (task.want === 'entry')
    return sendAndWait({ what: 'value', text: checked(JSON.stringify(listedEntry(bytes, task.name)), 'nodes') });
  if (task.want === 'old-facts') return sendAndWait({ what: 'value', text: JSON.stringify(oldFileFacts(bytes)) });
  if (isDeeper(bytes, mostLevels)) throw new RangeError('too deep');
  const { projectId, name, resetMacAddresses, ids } = task.want;
  const fresh = new FreshIds(ids);
  const renewed = withNewIdentity(JSON.parse(bytes.toString('utf8')) as Record<string, unknown>, {
    projectId,
    name,
    resetMacAddresses,
    ids: fresh,
  });
  send({ what: 'renewed', bytes: Buffer.from(JSON.stringify(renewed, null, 4)), ids: [...fresh.entries()] });
}

async function sendTopology(bytes: Buffer): Promise<void> {
  const { file, revision } = await checkFile(bytes, task.name);
  const { topology, ...project } = file;
  await sendAndWait({ what: 'head', text: checked(JSON.stringify(project), 'nodes'), revision });
  for (const list of ['computes', 'nodes', 'links', 'drawings'] as const) {
    let piece: string[] = [];
    let length = 0;
    for (const entry of topology[list]) {
      const text = checked(JSON.stringify(entry), list);
      piece.push(text);
      length += text.length;
      if (length < pieceLength) continue;
      await sendAndWait({ what: 'entries', list, text: `[${piece.join()}]` });
      piece = [];
      length = 0;
    }
    if (piece.length > 0) await sendAndWait({ what: 'entries', list, text: `[${piece.join()}]` });
  }
}

/** @throws `project_damaged` for an entry that is too large */
function checked(text: string, list: keyof typeof longest): string {
  const isLarge = text.length > mostValues && list !== 'drawings' && (text.match(/[,[{]/g)?.length ?? 0) > mostValues;
  if (text.length > longest[list] || isLarge)
    throw fault('project_damaged', {
      name: task.name,
      reason: `an entry among its ${list} is too large (${text.length} characters)`,
    });
  return text;
}

function send(piece: FilePiece): void {
  parentPort?.postMessage(piece);
}

async function sendAndWait(piece: FilePiece): Promise<void> {
  const taken = new Promise((resolve) => parentPort?.once('message', resolve));
  send(piece);
  await taken;
}
