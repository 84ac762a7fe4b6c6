import type { TerminalHandle } from '../state/terminals.ts';

/** The view on which a console is shown. */
export interface SurfaceOptions {
  /** URL for one connection. */
  readonly address: () => Promise<string>;
  readonly state: (state: 'connecting' | 'open' | 'lost') => void;
}

export interface ConsoleScreen {
  focus(): void;
  close(): void;
}

/** Options of a terminal. */
export interface TerminalOptions extends SurfaceOptions {
  readonly fontPx: number;
  /** The user types. */
  readonly onTyped: (text: string) => void;
  /** Typed before the terminal was loaded. */
  readonly typed: string;
  /** The user pressed the find keys. */
  readonly find: () => void;
}

export interface Terminal extends ConsoleScreen, TerminalHandle {
  setFontPx(fontPx: number): void;
  /** Selects the next match of the text; false when there is none. */
  find(text: string, back: boolean): boolean;
}
