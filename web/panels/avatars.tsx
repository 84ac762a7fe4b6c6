/** Other users who have the project open: initials in the colour of their selection. A user who is alone sees nothing of it. */
import type { PresenceSession } from '../../src/schema/presence.ts';
import { useApp, useProject } from '../state/app.ts';
import { sendableName } from '../state/own-name.ts';
import { colourOf, initialsOf } from '../state/presence.ts';
import { texts } from '../texts.ts';
import { askName } from '../ui/ask.tsx';

const mostShown = 4;

export function Avatars() {
  const { presence } = useProject();
  const others = presence.others.value;
  const own = presence.own.value;
  if (others.length === 0) return null;
  const names = others.slice(mostShown).map(({ name }) => name);
  return (
    <ul class="avatars" aria-label={texts.presence.title}>
      {others.slice(0, mostShown).map((session) => (
        <li key={session.number}>
          <OtherAvatar session={session} />
        </li>
      ))}
      {names.length > 0 && (
        <li class="avatar more" title={names.join(', ')}>
          +{names.length}
        </li>
      )}
      {own && (
        <li>
          <OwnAvatar own={own} />
        </li>
      )}
    </ul>
  );
}

/** Follows the view of that user, or ends that. */
function OtherAvatar({ session }: { readonly session: PresenceSession }) {
  const { following } = useProject().presence;
  const { number, name } = session;
  const isFollowed = following.value === number;
  const label = texts.actions[isFollowed ? 'unfollow' : 'follow'](name);
  const toggle = () => {
    following.value = isFollowed ? undefined : number;
  };
  return (
    <button
      type="button"
      class="avatar other"
      style={{ '--session': colourOf(session) }}
      title={label}
      aria-pressed={isFollowed}
      onClick={toggle}
    >
      <span aria-hidden="true">{initialsOf(session)}</span>
      <span class="unseen">{texts.actions.follow(name)}</span>
    </button>
  );
}

function OwnAvatar({ own }: { readonly own: PresenceSession }) {
  const app = useApp();
  const rename = () => {
    const { title, label, yes } = texts.presence.rename;
    const submit = (name: string) => {
      app.ownName.value = sendableName(name);
    };
    askName(app, { title, label, yes, value: app.ownName.peek() || own.name, submit });
  };
  const label = texts.presence.you(own.name);
  return (
    <button type="button" class="avatar own" style={{ '--session': colourOf(own) }} title={label} onClick={rename}>
      <span aria-hidden="true">{initialsOf(own)}</span>
      <span class="unseen">{label}</span>
    </button>
  );
}
