/** The view on which a console is shown. */
export interface SurfaceOptions {
  /** URL for one connection. */
  readonly address: () => Promise<string>;
  readonly state: (state: 'connecting' | 'open' | 'lost') => void;
}

export interface ConsoleScreen {
  /** The surface is visible now: it adapts its size and takes the focus. */
  shown(): void;
  close(): void;
}

export interface Terminal extends ConsoleScreen {
  /** Selects the next match of the text; false when there is none. */
  find(text: string, back: boolean): boolean;
}
