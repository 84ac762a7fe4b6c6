/**
 * The sessions that have a project open in the page. In memory only: a session lasts as long as its WebSocket. Theory of operation: a
 * client sends its whole state, so that only the last message of a turn counts; earlier ones are not parsed. All changes of a turn are
 * one notice. So clients that send without end cost one parse each and one text in a turn.
 */
import type { Socket } from '../../api/route.ts';
import { problemsOf } from '../../api/validate.ts';
import { EventStream } from '../../lib/event-stream.ts';
import {
  type PresenceChanged,
  type PresenceListed,
  type PresenceSession,
  PresenceState,
  presenceChangedAction,
  presenceListedAction,
} from '../../schema/presence.ts';
import { presenceLimits } from '../../schema/presence-limits.ts';
import type { Notice } from './host/project-context.ts';

const turnMs = 200;
/** RFC 6455 §7.4.1: not the type of data that is accepted; against the policy; too big. */
const closeCodes = { type: 1003, policy: 1008, size: 1009 } as const;
/** RFC 6455 §5.5: of a reason, in bytes. It may quote what the client sent. */
const longestReason = 120;

interface Seat {
  readonly socket: Socket;
  readonly session: PresenceSession;
  /** The last message of this turn. */
  readonly message?: Uint8Array;
}

export class Presence {
  /** Seats by session number. */
  readonly #seats = new Map<number, Seat>();
  readonly #notices = new EventStream<Notice>();
  /** Numbers of sessions that began, sent a message, or ended in this turn. */
  readonly #changed = new Set<number>();
  #timer: NodeJS.Timeout | undefined;

  /** Begins a session. Returns what ends it; undefined when the project has as many as are shown. */
  enter(socket: Socket, user: string | undefined, listener: (notice: Notice) => void): (() => void) | undefined {
    const number = this.#freeNumber();
    if (number > presenceLimits.sessions) return undefined;
    const name = user?.slice(0, presenceLimits.nameLength) || `Guest ${number}`;
    this.#seats.set(number, { socket, session: { number, name, selected: [] } });
    const event: PresenceListed = { number, sessions: Array.from(this.#seats.values(), ({ session }) => session) };
    listener({ action: presenceListedAction, event });
    const unsubscribe = this.#notices.subscribe(listener);
    this.#changedNow(number);
    socket.onMessage((data, isBinary) => this.#receive(number, socket, isBinary ? undefined : data));
    return () => {
      unsubscribe();
      this.#seats.delete(number);
      if (this.#seats.size > 0) this.#changedNow(number);
    };
  }

  #freeNumber(): number {
    let number = 1;
    while (this.#seats.has(number)) number += 1;
    return number;
  }

  #receive(number: number, socket: Socket, message: Uint8Array | undefined): void {
    const seat = this.#seats.get(number);
    // The seat's number may be that of another session by now.
    if (seat?.socket !== socket) return;
    if (!message) socket.close(closeCodes.type, 'messages are text');
    else if (message.byteLength > presenceLimits.messageBytes)
      socket.close(closeCodes.size, `a message has at most ${presenceLimits.messageBytes} bytes`);
    else {
      this.#seats.set(number, { ...seat, message });
      this.#changedNow(number);
    }
  }

  #changedNow(number: number): void {
    this.#changed.add(number);
    this.#timer ??= setTimeout(() => void this.#turn(), turnMs).unref();
  }

  async #turn(): Promise<void> {
    const numbers = [...this.#changed];
    this.#changed.clear();
    for (const number of numbers) await this.#update(number);
    this.#timer = undefined;
    const seats = numbers.map((number) => this.#seats.get(number));
    const event: PresenceChanged = {
      sessions: seats.flatMap((seat) => seat?.session ?? []),
      left: numbers.filter((number) => !this.#seats.has(number)),
    };
    this.#notices.emit({ action: presenceChangedAction, event });
    const [next] = this.#changed;
    if (next !== undefined) this.#changedNow(next);
  }

  /** Takes the state of the last message. One that is wrong ends its connection. */
  async #update(number: number): Promise<void> {
    const { socket, message } = this.#seats.get(number) ?? {};
    if (!socket || !message) return;
    const value = parse(message);
    const problem = await problemsOf(PresenceState, value);
    const seat = this.#seats.get(number);
    if (seat?.socket !== socket) return;
    if (problem !== undefined) {
      socket.close(closeCodes.policy, problem.replace(/[^ -~]/g, '?').slice(0, longestReason));
      return;
    }
    const { name = seat.session.name, ...state } = value as PresenceState;
    const session = { number, name, ...state };
    // A message that arrived meanwhile stays for its own turn.
    const { message: latest } = seat;
    this.#seats.set(number, { socket, session, ...(latest && latest !== message && { message: latest }) });
  }
}

/** Undefined: no JSON. */
function parse(message: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(message).toString('utf8'));
  } catch {
    return undefined;
  }
}
