/** The console of a VM that came to iPXE, which sits in QEMU's own ROMs. */
import { openTelnet, type TelnetClient } from './telnet.ts';
import { waitFor } from './wait-for.ts';
import type { NodeBody } from './with-server.ts';

/** Sends a line slowly: the serial line of a guest has no flow control. */
export async function sendSlowly(console: Pick<TelnetClient, 'send'>, text: string): Promise<void> {
  for (const character of text) {
    console.send(character);
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
}

/**
 * Types a line. A guest that gets too little of a busy host loses characters: a line that it does not show whole is erased (Ctrl-U) and typed
 * again.
 */
export async function type(console: Pick<TelnetClient, 'send' | 'expect'>, text: string): Promise<void> {
  const shown = new RegExp(text.replaceAll(/[^\w ]/g, '\\$&'));
  await waitFor(
    async () => {
      await sendSlowly(console, text);
      return console.expect(shown, 2000).catch(() => sendSlowly(console, '\x15\x15'));
    },
    { what: `the guest to show "${text}"` },
  );
  console.send('\r');
}

/** Makes the guest remember a word, as its setting `word`. */
export function setWord(console: TelnetClient, word: string): Promise<void> {
  return untilShown(console, [`set word ${word}`, 'show word'], word);
}

/** Settles when the guest shows this word. */
export function showsWord(console: TelnetClient, word: string): Promise<void> {
  return untilShown(console, ['show word'], word);
}

/** Sends the lines until the word is shown. Ctrl-U first erases a line of which characters were lost. */
async function untilShown(console: TelnetClient, lines: readonly string[], word: string): Promise<void> {
  await waitFor(
    async () => {
      for (const line of lines) {
        console.send('\x15\x15');
        await type(console, line);
      }
      return console.expect(new RegExp(`= ${word}\\r`), 2000);
    },
    { what: `the guest to show "${word}"`, limitMs: 60_000 },
  );
}

/** The guest's prompt, for which its key is pressed until it shows. */
export async function atPrompt(vm: NodeBody): Promise<TelnetClient> {
  const console = await openTelnet(vm.console as number);
  await waitFor(
    () => {
      console.send('\x02');
      return console.expect(/iPXE> /, 500);
    },
    { what: 'the prompt of iPXE', limitMs: 60_000 },
  );
  return console;
}

/** Settles when the guest sees the link of its first adapter, which is open, in this state. */
export async function showsLink(console: TelnetClient, state: 'up' | 'down'): Promise<void> {
  await waitFor(
    async () => {
      await type(console, 'ifstat net0');
      return console.expect(new RegExp(`Link:${state}`), 1500).catch(() => undefined);
    },
    { what: `the guest to see its link ${state}`, limitMs: 60_000 },
  );
}
