/** A ping typed at the console of a vpcs, by whatever way the test reaches it. */
import { randomInt } from 'node:crypto';
import { waitFor } from './wait-for.ts';

export interface PcConsole {
  send(text: string): void;
  /** All that it has shown so far. */
  output(): string;
}

/** On a busy machine an echo takes seconds. */
const echoMs = 4_000;

/**
 * Whether one of `count` requests is answered; each waits half a second. vpcs discards what is typed while it finishes the command before,
 * so the line is typed again until its echo is seen; its timeout, another one each time, tells the echo from those of earlier pings.
 */
export async function ping(console: PcConsole, address: string, count: number): Promise<boolean> {
  const before = console.output().length;
  const timeout = randomInt(500, 1000);
  const shown = () => console.output().slice(before);
  const echo = `-w ${timeout} `;
  let typedAt = Number.NEGATIVE_INFINITY;
  await waitFor(
    () => {
      const isDue = performance.now() - typedAt > echoMs;
      if (isDue) {
        console.send(`ping ${address} -c ${count} -w ${timeout} -i 100\r`);
        typedAt = performance.now();
      }
      return shown().includes(echo);
    },
    { what: `the echo of a ping to ${address}` },
  );
  const outcome = new RegExp(`${echo}[^]*?(ttl=|not reachable|seq=${count} timeout)[^]*> $`);
  const [, text] = await waitFor(() => outcome.exec(shown()), { what: `the outcome of a ping to ${address}` });
  return text === 'ttl=';
}
