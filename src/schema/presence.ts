/**
 * Shows which sessions have a project open in the page. Only listeners that request it receive it: GNS3's clients do not know it.
 */
import { GivenName, named } from './common.ts';
import { presenceIdPattern, presenceLimits } from './presence-limits.ts';
import { type Static, Type } from './type.ts';

const Selected = Type.Array(Type.String({ pattern: presenceIdPattern }), {
  maxItems: presenceLimits.selected,
  uniqueItems: true,
  description: 'Ids of the selected nodes, links and drawings',
});

const pixels = Type.Number({ minimum: -1e7, maximum: 1e7 });
const place = {
  pointer: Type.Optional(
    Type.Object({ x: pixels, y: pixels }, { additionalProperties: false, description: 'Place of the pointer on the canvas' }),
  ),
  view: Type.Optional(
    Type.Object(
      { x: pixels, y: pixels, width: pixels, height: pixels },
      { additionalProperties: false, description: 'Part of the canvas that is visible' },
    ),
  ),
};

/** The whole state of a session, in each of its messages. */
export const PresenceState = Type.Object(
  {
    name: Type.Optional(
      GivenName({
        maxLength: presenceLimits.nameLength,
        description: 'Name to show; default: the user of the login, or "Guest" and the number of the session',
      }),
    ),
    selected: Selected,
    ...place,
  },
  named('PresenceState'),
);
export type PresenceState = Static<typeof PresenceState>;

export const PresenceSession = Type.Object(
  {
    number: Type.Integer({
      minimum: 1,
      maximum: presenceLimits.sessions,
      description: 'The lowest free one when the session began: its colour follows from it',
    }),
    name: Type.String(),
    selected: Selected,
    ...place,
  },
  named('PresenceSession'),
);
export type PresenceSession = Static<typeof PresenceSession>;

/** Action of the first message to a new session. */
export const presenceListedAction = 'presence.listed';
export interface PresenceListed {
  /** Number of the receiving session. */
  readonly number: number;
  readonly sessions: readonly PresenceSession[];
}

/** Action of the messages when sessions begin, change or end. */
export const presenceChangedAction = 'presence.changed';
export interface PresenceChanged {
  readonly sessions: readonly PresenceSession[];
  /** Numbers of sessions that ended. */
  readonly left: readonly number[];
}

/** Query parameter of a project's WebSocket. */
export const presence = Type.Boolean({
  description: 'Whether this connection is shown to others as a session, and sent `presence.listed` and `presence.changed`',
});
