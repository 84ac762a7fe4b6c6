/** A ping typed at the console of a vpcs, by whatever way the test reaches it. */
import { randomInt } from 'node:crypto';
import { waitFor } from './wait-for.ts';

export interface PcConsole {
  send(text: string): void;
  /** All that it has shown so far. */
  output(): string;
}

/** Limit for an echo, which takes seconds on a busy machine. */
const echoMs = 4_000;
/** Longer than the search for the address, which shows nothing. */
const quietMs = 15_000;
const ctrlC = '\x03';
const shownInFailure = 1_000;

/**
 * Whether one of `count` requests is answered; each waits half a second to a second. vpcs discards what is typed while it finishes the
 * command before, also what its terminal has echoed by then, so the line is typed again until an outcome follows; its timeout, another one
 * each time, tells the echo from those of earlier pings.
 * @throws with what the console has shown, when no ping comes to its end
 */
export async function ping(console: PcConsole, address: string, count: number): Promise<boolean> {
  const before = console.output().length;
  const timeout = randomInt(500, 1000);
  const shown = () => console.output().slice(before);
  const echo = `-w ${timeout} `;
  const outcome = new RegExp(`${echo}[^]*?(ttl=|not reachable|seq=${count} timeout)[^]*> $`);
  let [typedAt, changedAt, length] = [Number.NEGATIVE_INFINITY, 0, 0];
  const look = () => {
    const [text, now] = [shown(), performance.now()];
    if (text.length !== length) [length, changedAt] = [text.length, now];
    const isEchoed = text.includes(echo);
    const isTyped = isEchoed && !text.endsWith('> ');
    const quiet = now - (isEchoed ? Math.max(typedAt, changedAt) : typedAt);
    if (quiet > (isTyped ? quietMs : echoMs)) {
      // A line without its end. At other times Ctrl-C could end what runs at the start.
      console.send(isTyped ? ctrlC : `ping ${address} -c ${count} -w ${timeout} -i 100\r`);
      typedAt = now;
    }
    return outcome.exec(text);
  };
  const [, text] = await waitFor(look, { what: `the outcome of a ping to ${address}` }).catch((error: Error) => {
    throw new Error(`${error.message}, shown: ${JSON.stringify(shown().slice(-shownInFailure))}`, { cause: error });
  });
  return text === 'ttl=';
}
