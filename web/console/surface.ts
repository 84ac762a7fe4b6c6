/** What a console is shown on. */
export interface SurfaceOptions {
  /** Address for one connection. */
  readonly address: () => Promise<string>;
  readonly state: (state: 'connecting' | 'open' | 'lost') => void;
}

export interface ConsoleScreen {
  /** It can be seen now: takes its size and the focus. */
  shown(): void;
  close(): void;
}

export interface Terminal extends ConsoleScreen {
  /** Selects the next place with this text; false when there is none. */
  find(text: string, back: boolean): boolean;
}
