/** The open consoles at the foot of the page: panes side by side, each with tabs. */
import { batch, computed, effect, signal } from '@preact/signals';

export interface ConsolePane {
  readonly id: number;
  /** Ids of nodes; for captures `captureTab` of a link's id, or `captureFileTab` of a file. */
  readonly tabs: readonly string[];
  readonly active: string;
}

/** Content of a tab that is kept when the tab moves to another pane. */
export interface TabContent {
  close(): void;
  /** Reads again what may have changed: the user opened the tab once more. */
  refresh?(): void;
}

export const captureTab = (linkId: string): string => `capture:${linkId}`;
export const captureFileTab = (name: string): string => `file:${name}`;

/** The capture of a link, or a capture file; undefined for a node's console. */
export function captureOfTab(tab: string): { readonly linkId: string } | { readonly file: string } | undefined {
  const [, kind, rest = ''] = /^(capture|file):(.*)$/s.exec(tab) ?? [];
  if (kind === undefined) return undefined;
  return kind === 'capture' ? { linkId: rest } : { file: rest };
}

const keyOf = (projectId: string) => `patchbay.consoles.${projectId}`;

/** Reads the panes of this window: each window has consoles of its own. */
function keptPanes(projectId: string): readonly ConsolePane[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(keyOf(projectId)) ?? '[]');
    return Array.isArray(kept) && kept.every(isPane) ? kept : [];
  } catch {
    return [];
  }
}

function isPane(value: unknown): value is ConsolePane {
  const { id, tabs, active } = (value ?? {}) as Partial<ConsolePane>;
  return (
    typeof id === 'number' &&
    Array.isArray(tabs) &&
    tabs.length > 0 &&
    tabs.every((tab) => typeof tab === 'string') &&
    tabs.includes(active ?? '')
  );
}

export class ConsoleDock {
  readonly panes = signal<readonly ConsolePane[]>([]);
  /** The pane of the next console. */
  readonly current = signal(0);
  /** The tab that the user has just opened, until its content takes the focus. */
  readonly wanted = signal<string | undefined>(undefined);
  /** The height leaves the canvas three fifths of a low window, also with the time line, until the user sets another one. */
  readonly heightPx = signal(Math.min(280, Math.round(innerHeight * 0.29)));
  /** The dock covers the canvas. */
  readonly isMaximised = signal(false);
  readonly isOpen = computed(() => this.panes.value.length > 0);
  /** Content by tab: packets stay when a tab moves to another pane. */
  readonly #contents = new Map<string, TabContent>();
  #last = 0;
  #stopKeeping: () => void = () => undefined;

  open(nodeId: string): void {
    batch(() => this.#open(nodeId));
  }

  #open(nodeId: string): void {
    const holder = this.panes.peek().find((pane) => pane.tabs.includes(nodeId));
    if (holder) {
      this.#contents.get(nodeId)?.refresh?.();
      this.activate(holder.id, nodeId);
      return;
    }
    const target = this.panes.peek().find(({ id }) => id === this.current.peek()) ?? this.panes.peek()[0];
    if (!target) {
      this.#add(nodeId);
      return;
    }
    this.#change(target.id, (pane) => ({ ...pane, tabs: [...pane.tabs, nodeId], active: nodeId }));
    this.current.value = target.id;
    this.wanted.value = nodeId;
  }

  /** `takesFocus`: the content takes the focus, as on a click; with arrow keys it stays on the tab. */
  activate(paneId: number, nodeId: string, takesFocus = true): void {
    batch(() => {
      this.#change(paneId, (pane) => ({ ...pane, active: nodeId }));
      this.current.value = paneId;
      this.wanted.value = takesFocus ? nodeId : undefined;
    });
  }

  /** The content of the tab takes the focus, or needs none. */
  received(tab: string): void {
    if (this.wanted.peek() === tab) this.wanted.value = undefined;
  }

  contentOf<T extends TabContent>(tab: string, make: () => T): T {
    const content = (this.#contents.get(tab) as T | undefined) ?? make();
    this.#contents.set(tab, content);
    return content;
  }

  close(nodeId: string): void {
    this.#contents.get(nodeId)?.close();
    this.#contents.delete(nodeId);
    this.#remove(nodeId);
  }

  #remove(nodeId: string): void {
    this.panes.value = this.panes.peek().flatMap((pane) => {
      const at = pane.tabs.indexOf(nodeId);
      if (at < 0) return [pane];
      const tabs = pane.tabs.filter((tab) => tab !== nodeId);
      const active = pane.active === nodeId ? (tabs[Math.max(0, at - 1)] ?? '') : pane.active;
      return tabs.length === 0 ? [] : [{ ...pane, tabs, active }];
    });
  }

  /** Moves a console into a pane of its own. */
  split(nodeId: string): void {
    const holder = this.panes.peek().find((pane) => pane.tabs.includes(nodeId));
    if (holder && holder.tabs.length < 2) return;
    batch(() => {
      this.#remove(nodeId);
      this.#add(nodeId);
    });
  }

  /** Brings all tabs into the first pane. */
  merge(): void {
    const [first, ...others] = this.panes.peek();
    if (!first) return;
    const tabs = [...first.tabs, ...others.flatMap((pane) => pane.tabs)];
    this.panes.value = [{ ...first, tabs }];
    this.current.value = first.id;
  }

  toggleMaximised(): void {
    this.isMaximised.value = !this.isMaximised.peek();
  }

  /** The panes of a project as they were before the page was loaded again. From now on its changes are kept for that. */
  restore(projectId: string): void {
    this.panes.value = keptPanes(projectId);
    this.#last = Math.max(0, ...this.panes.peek().map(({ id }) => id));
    this.#stopKeeping = effect(() => sessionStorage.setItem(keyOf(projectId), JSON.stringify(this.panes.value)));
  }

  clear(): void {
    this.#stopKeeping();
    this.#stopKeeping = () => undefined;
    this.isMaximised.value = false;
    for (const content of this.#contents.values()) content.close();
    this.#contents.clear();
    this.panes.value = [];
    this.wanted.value = undefined;
  }

  #add(nodeId: string): void {
    this.#last += 1;
    this.panes.value = [...this.panes.peek(), { id: this.#last, tabs: [nodeId], active: nodeId }];
    this.current.value = this.#last;
    this.wanted.value = nodeId;
  }

  #change(paneId: number, change: (pane: ConsolePane) => ConsolePane): void {
    this.panes.value = this.panes.peek().map((pane) => (pane.id === paneId ? change(pane) : pane));
  }
}
