/** The mirror of a link: a port of a node that is sent its frames as well. */
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { Link, LinkMirror, MirrorOfLink } from '../../src/schema/link.ts';
import type { LinkStats } from '../../src/schema/link-stats.ts';
import { portsOf } from '../scene/wiring.ts';
import { useApp, useProject } from '../state/app.ts';
import { texts } from '../texts.ts';
import { ChoiceField } from '../ui/field.tsx';

interface MirrorProps {
  readonly link: Link;
  readonly stats: LinkStats | undefined;
}

export function Mirror({ link, stats }: MirrorProps) {
  const { api, toasts } = useApp();
  const { path } = useProject();
  const all = useSignal<readonly MirrorOfLink[]>([]);
  const own = `${path}/links/${link.link_id}/mirror`;
  // Another client may have changed it: the figures show where frames go.
  const seen = stats?.mirrors?.map(keyOf).join() ?? '';
  useEffect(() => {
    void toasts.attempt(async () => {
      all.value = await api.get<MirrorOfLink[]>(`${path}/mirrors`);
    });
  }, [api, toasts, path, seen, all]);
  const mirrors = all.value;
  const mirror = mirrors.find(({ link_id }) => link_id === link.link_id);
  const ports = useMirrorPorts(link, mirrors);
  const choose = (key: string) =>
    toasts.attempt(async () => {
      const port = ports.find((one) => keyOf(one.at) === key)?.at;
      if (port) await api.put<LinkMirror>(own, port);
      else await api.delete(own);
      all.value = await api.get<MirrorOfLink[]>(`${path}/mirrors`);
    });
  if (ports.length === 0) return null;
  const [figures] = stats?.mirrors ?? [];
  return (
    <section class="mirror" aria-label={texts.mirror.title}>
      <ChoiceField
        label={texts.mirror.title}
        hint={figures && mirror ? texts.mirror.figures(figures.frames, lost(figures)) : texts.mirror.hint}
        value={mirror ? keyOf(mirror) : ''}
        options={[['', texts.none], ...ports.map(({ at, name }) => [keyOf(at), name] as const)]}
        onChange={choose}
      />
    </section>
  );
}

/** The port that the link is mirrored to, and the free ones. */
function useMirrorPorts({ link_id, nodes: ends }: Link, mirrors: readonly MirrorOfLink[]) {
  const { server } = useApp();
  const project = useProject();
  const nodes = project.nodes.all.value;
  const links = project.linksOf.value;
  // Rendered once a second; a large project has thousands of ports.
  return useMemo(() => {
    const taken = new Set(mirrors.filter((mirror) => mirror.link_id !== link_id).map(keyOf));
    const able = nodes.filter((node) => server.can(node.node_type, 'mirror') && !ends.some((end) => end.node_id === node.node_id));
    return able.flatMap((node) =>
      portsOf(project, node).flatMap(({ port, linkedTo }) => {
        const { adapter_number, port_number, link_type, name } = port;
        const at: LinkMirror = { node_id: node.node_id, adapter_number, port_number };
        const isFree = linkedTo === undefined && link_type === 'ethernet' && !taken.has(keyOf(at));
        return isFree ? [{ at, name: `${node.name} ${name}` }] : [];
      }),
    );
  }, [link_id, ends, mirrors, nodes, links, project, server]);
}

function keyOf({ node_id, adapter_number, port_number }: LinkMirror): string {
  return `${node_id}/${adapter_number}/${port_number}`;
}

function lost({ dropped }: { readonly dropped: Readonly<Record<string, number>> }): number {
  return Object.values(dropped).reduce((sum, frames) => sum + frames, 0);
}
