/** Containers that a server started: the label `runMarker` has its runtime folder. Over the Engine's HTTP API, version 1.40 and later. */
import { request } from 'node:http';
import { runMarker } from './child.ts';

const answerMs = 2_000;
const longestAnswer = 16 << 20;

/**
 * Sends SIGKILL to all that run or are paused, if that is still wanted when they have been listed. Nothing is done where no engine listens.
 * @throws Error when the engine refuses
 */
export async function killContainers(
  socketPath: string,
  runDirectory: string,
  isWanted: () => Promise<boolean | undefined>,
): Promise<void> {
  const filters = encodeURIComponent(JSON.stringify({ label: [`${runMarker}=${runDirectory}`] }));
  const { status, text } = await ask(socketPath, 'GET', `/containers/json?filters=${filters}`);
  if (status !== 200) throw new Error(`the container engine answers with status ${status}`);
  const found = JSON.parse(text) as readonly { readonly Id?: unknown }[];
  const ids = found.map(({ Id }) => Id).filter((id) => typeof id === 'string');
  if (ids.length > 0 && (await isWanted()))
    await Promise.all(ids.map((id) => ask(socketPath, 'POST', `/containers/${encodeURIComponent(id)}/kill`)));
}

function ask(socketPath: string, method: 'GET' | 'POST', path: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, method, path, agent: false, signal: AbortSignal.timeout(answerMs) }, (answer) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > longestAnswer) answer.destroy(new Error('the answer of the container engine is too long'));
        else chunks.push(chunk);
      });
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
      answer.once('error', reject);
    });
    asked.once('error', reject);
    asked.end();
  });
}
