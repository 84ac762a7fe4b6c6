/** The sessions that have the project open, and what this one tells them of itself: its name and its selection. */
import { computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type {
  PresenceChanged,
  PresenceListed,
  PresenceState as PresenceMessage,
  PresenceSession,
} from '../../src/schema/presence.ts';
import { presenceIdPattern, presenceLimits } from '../../src/schema/presence-limits.ts';
import type { Box, Point } from '../geometry/geometry.ts';

/** The server sends changes on as often. */
const sendMs = 200;
const sendable = new RegExp(presenceIdPattern);
/** White text is readable on each. */
const colours = ['#1d4ed8', '#c2410c', '#0f766e', '#7e22ce', '#be123c', '#4d7c0f', '#a21caf', '#0369a1'] as const;

export function colourOf({ number }: PresenceSession): string {
  return colours[(number - 1) % colours.length] ?? colours[0];
}

/** "AL" for Ada Lovelace, "G2" for Guest 2, "AD" for ada. */
export function initialsOf({ name }: PresenceSession): string {
  const [one = '', other] = name.trim().split(/\s+/);
  const [first = '?', second = ''] = [...one];
  return `${first}${other ? [...other][0] : second}`.toUpperCase();
}

const mostPx = 1e7;
/** Tenths of a pixel are enough. */
const inLimits = (pixels: number) => Math.round(10 * Math.max(-mostPx, Math.min(mostPx, pixels))) / 10;

interface PresenceOptions {
  readonly selected: ReadonlySignal<ReadonlySet<string>>;
  readonly name: ReadonlySignal<string>;
  readonly send: (message: PresenceMessage) => void;
}

export class Presence {
  readonly #sessions = signal<readonly PresenceSession[]>([]);
  readonly #number = signal(0);
  /** Place of the own pointer on the canvas; undefined: it is elsewhere. */
  readonly pointer: Signal<Point | undefined> = signal(undefined);
  /** The part of the canvas that is visible here. */
  readonly view: Signal<Box | undefined> = signal(undefined);
  /** Number of the session whose view is shown here, too. */
  readonly following: Signal<number | undefined> = signal(undefined);
  readonly #options: PresenceOptions;
  readonly #stop: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Other sessions, in the order of their numbers. */
  readonly others = computed(() => this.#sessions.value.filter(({ number }) => number !== this.#number.value));
  readonly followed = computed(() => this.others.value.find(({ number }) => number === this.following.value));
  /** Undefined until the server has answered, and above its limit of sessions. */
  readonly own = computed(() => this.#sessions.value.find(({ number }) => number === this.#number.value));
  /** Name by which others see this session while there are any. */
  readonly guestName = computed(() => (this.others.value.length > 0 ? this.own.value?.name : undefined));

  constructor(options: PresenceOptions) {
    this.#options = options;
    this.#stop = effect(() => {
      void options.selected.value;
      void options.name.value;
      // Alone, a session has no reason to send them.
      if (this.others.value.length > 0) void [this.pointer.value, this.view.value, this.following.value];
      this.#timer ??= setTimeout(() => this.#send(), sendMs);
    });
  }

  close(): void {
    this.#stop();
    clearTimeout(this.#timer);
  }

  /** A notice of the server. */
  receive(action: string, event: unknown): void {
    if (action === 'presence.listed') {
      const { number, sessions } = event as PresenceListed;
      this.#number.value = number;
      this.#sessions.value = sessions;
      this.#send();
    } else {
      const { sessions, left } = event as PresenceChanged;
      const changed = new Set([...left, ...sessions.map(({ number }) => number)]);
      const others = this.#sessions.peek().filter(({ number }) => !changed.has(number));
      this.#sessions.value = [...others, ...sessions].sort((one, other) => one.number - other.number);
    }
  }

  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#number.peek() === 0) return;
    const selected = [...this.#options.selected.peek()].filter((id) => sendable.test(id)).slice(0, presenceLimits.selected);
    const name = this.#options.name.peek();
    const pointer = this.pointer.peek();
    // Two users who follow each other would move each other's view for ever.
    const view = this.following.peek() === undefined ? this.view.peek() : undefined;
    this.#options.send({
      selected,
      ...(name && { name }),
      ...(pointer && { pointer: { x: inLimits(pointer.x), y: inLimits(pointer.y) } }),
      ...(view && {
        view: { x: inLimits(view.x), y: inLimits(view.y), width: inLimits(view.width), height: inLimits(view.height) },
      }),
    });
  }
}
