/** Pointers of other users on the canvas, with their names, and the view of one of them, which is followed here. */
import { untracked, useComputed, useSignalEffect } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { PresenceSession } from '../../src/schema/presence.ts';
import { centreOf } from '../geometry/geometry.ts';
import type { ViewportState } from '../geometry/viewport.ts';
import { useApp, useProject } from '../state/app.ts';
import { colourOf } from '../state/presence.ts';
import type { ProjectState } from '../state/project.ts';

export function CursorsOfOthers() {
  const { viewport } = useApp();
  const project = useProject();
  const { presence } = project;
  useFollowing(project);
  const scale = useComputed(() => viewport.drawn.value.scale).value;
  const shown = presence.others.value.filter(({ pointer }) => pointer);
  if (shown.length === 0) return null;
  return (
    <g class="cursors-of-others">
      {shown.map((session) => (
        <Cursor key={session.number} session={session} scale={scale} />
      ))}
    </g>
  );
}

function Cursor({ session, scale }: { readonly session: PresenceSession; readonly scale: number }) {
  const { x = 0, y = 0 } = session.pointer ?? {};
  const transform = `translate(${x}px, ${y}px) scale(${1 / scale})`;
  return (
    <g class="cursor" style={{ '--session': colourOf(session), transform }}>
      <path d="M0 0V15L3.8 11.6 6.4 17.4 8.8 16.3 6.2 10.6H11.3Z" />
      <text x={12} y={24}>
        {session.name}
      </text>
    </g>
  );
}

/** Shows what the followed session sees, until the view is moved here or that session leaves. */
function useFollowing({ presence }: ProjectState): void {
  const { viewport } = useApp();
  const applied = useRef<ViewportState | undefined>(undefined);
  useSignalEffect(() => {
    presence.view.value = viewport.box();
  });
  useSignalEffect(() => {
    const view = presence.followed.value?.view;
    if (!view) {
      applied.current = undefined;
      if (!presence.followed.value) presence.following.value = undefined;
      return;
    }
    untracked(() => {
      const { width, height } = viewport.seen.value;
      viewport.lookAt(centreOf(view), Math.min(width / Math.max(1, view.width), height / Math.max(1, view.height)));
      applied.current = viewport.state.value;
    });
  });
  useSignalEffect(() => {
    const state = viewport.state.value;
    if (applied.current && state !== applied.current) presence.following.value = undefined;
  });
}
