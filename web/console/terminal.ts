/** A terminal over a console's WebSocket. It reconnects while the node runs. Loaded with the first console. */
import { FitAddon } from '@xterm/addon-fit';
import { SearchAddon } from '@xterm/addon-search';
import { Terminal as Xterm } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';
import { Retry } from '../../src/lib/retry.ts';
import { askForMark, TelnetStripper, windowSizeMessage } from '../../src/lib/telnet.ts';
import type { Terminal, TerminalOptions } from './surface.ts';

const scrollbackLines = 10_000;
const retryTimes = { firstMs: 300, longestMs: 5_000 };

/** Dark in either theme: guests choose colours for a dark background. */
const colours = {
  background: '#0f1419',
  foreground: '#d5dbe3',
  cursor: '#7cc4ff',
  selectionBackground: '#2f5d8a',
  black: '#1b2129',
  brightBlack: '#66707c',
};

export function openTerminal(element: HTMLElement, options: TerminalOptions): Terminal {
  const terminal = new Xterm({
    fontFamily: 'ui-monospace, "SFMono-Regular", Menlo, Consolas, "DejaVu Sans Mono", monospace',
    fontSize: options.fontPx,
    scrollback: scrollbackLines,
    theme: colours,
    // Guests usually end lines with CR LF; a bare LF means the same.
    convertEol: true,
    screenReaderMode: false,
  });
  const fit = new FitAddon();
  const search = new SearchAddon();
  terminal.loadAddon(fit);
  terminal.loadAddon(search);
  terminal.open(element);
  terminal.attachCustomKeyEventHandler((event) => !isOurs(event, terminal, options.find));
  const connection = connect(terminal, options);
  // A terminal out of sight keeps the height that xterm.js drew it with: a new number of rows would scroll it away from its last line. It
  // learns that it is in sight from an observer that is older than this one, and so is notified first.
  let isInSight = false;
  const adapt = () => {
    if (isInSight && element.clientWidth > 0) fit.fit();
  };
  const sight = new IntersectionObserver((changes) => {
    isInSight = changes.at(-1)?.isIntersecting ?? false;
    adapt();
  });
  sight.observe(element);
  const observer = new ResizeObserver(adapt);
  observer.observe(element);
  return {
    focus: () => terminal.focus(),
    find: (text, back) => (back ? search.findPrevious(text) : search.findNext(text)),
    send: connection.send,
    text: () => textOf(terminal),
    size: () => ({ columns: terminal.cols, rows: terminal.rows }),
    setFontPx: (fontPx) => {
      terminal.options.fontSize = fontPx;
      adapt();
    },
    close: () => {
      sight.disconnect();
      observer.disconnect();
      connection.close();
      terminal.dispose();
    },
  };
}

/** The usual terminal keys for copy, paste and find; every other key is sent to the guest. */
function isOurs(event: KeyboardEvent, terminal: Xterm, find: () => void): boolean {
  const isMod = event.metaKey || (event.ctrlKey && event.shiftKey);
  if (event.type !== 'keydown' || !isMod) return false;
  switch (event.key.toLowerCase()) {
    case 'c':
      if (!terminal.hasSelection()) return false;
      event.preventDefault();
      void navigator.clipboard?.writeText(terminal.getSelection());
      return true;
    case 'f':
      event.preventDefault();
      find();
      return true;
    case 'v':
      // The browser pastes on its own.
      return true;
    default:
      return false;
  }
}

/** All lines that the terminal keeps; lines that were wrapped are joined. */
function textOf({ buffer: { active } }: Xterm): string {
  const lines: string[] = [];
  for (let place = 0; place < active.length; place += 1) {
    const line = active.getLine(place);
    const text = line?.translateToString(!active.getLine(place + 1)?.isWrapped) ?? '';
    if (line?.isWrapped) lines.push(`${lines.pop() ?? ''}${text}`);
    else lines.push(text);
  }
  return `${lines.join('\n').trimEnd()}\n`;
}

interface Connection {
  send(text: string): void;
  close(): void;
}

/** Reports that a terminal sends when its guest queries it: cursor, status, identity, modes, colours. */
const isReport = (text: string) => text.startsWith('\x1b') && /^.(\[[?>=]?[\d;$]*[Rcny]|[\]P])/.test(text);

/**
 * Connects the terminal, again after each loss. A new connection clears the screen and the server replays the earlier output. Queries in
 * the replay must not be answered again: the guest would read the reply as typed input. A mark shows where the replay ends.
 */
function connect(terminal: Xterm, { address, state, typed, onTyped }: TerminalOptions): Connection {
  const encoder = new TextEncoder();
  let socket: WebSocket | undefined;
  let closed = false;
  const retry = new Retry(retryTimes, () => attach());
  let isReplay = true;
  /** Typed before the first connection was established. */
  let early: string | undefined = typed;
  const again = () => {
    if (closed) return;
    early = undefined;
    state('lost');
    retry.failed();
  };
  const attach = () => {
    address().then((url) => closed || listen(new WebSocket(url)), again);
  };
  const listen = (opened: WebSocket) => {
    opened.binaryType = 'arraybuffer';
    socket = opened;
    opened.onopen = () => {
      retry.succeeded();
      isReplay = true;
      terminal.reset();
      opened.send(askForMark);
      tellSize();
      if (early) opened.send(encoder.encode(early));
      early = undefined;
      state('open');
    };
    // Earlier output is rendered first.
    const telnet = new TelnetStripper(() => terminal.write('', () => (isReplay = false)));
    opened.onmessage = ({ data }) => terminal.write(telnet.push(new Uint8Array(data as ArrayBuffer)));
    opened.onclose = again;
  };
  const tellSize = () => {
    if (socket?.readyState === WebSocket.OPEN) socket.send(windowSizeMessage(terminal.cols, terminal.rows));
  };
  const send = (text: string) => {
    if (socket?.readyState === WebSocket.OPEN) socket.send(encoder.encode(text));
    else if (early !== undefined) early += text;
  };
  attach();
  const resized = terminal.onResize(tellSize);
  const input = terminal.onData((text) => {
    if (!(isReplay && isReport(text))) send(text);
    if (!isReport(text)) onTyped(text);
  });
  return {
    send,
    close: () => {
      closed = true;
      retry.stop();
      for (const listener of [input, resized]) listener.dispose();
      socket?.close();
    },
  };
}
