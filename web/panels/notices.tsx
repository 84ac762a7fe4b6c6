/** Notices over the canvas: a storm of a loop, and links that could not be made. Loaded with the first of them. */
import type { LinkEnd } from '../../src/schema/link.ts';
import type { LinkStorm } from '../../src/schema/link-stats.ts';
import { endNames } from '../scene/link-view.tsx';
import { portName } from '../scene/port-name.ts';
import { useApp, useProject } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';
import { portKey } from '../state/work.ts';
import { failure, storm as words } from '../texts/links.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { Notice } from '../ui/notice.tsx';

export function Notices() {
  const project = useProject();
  const storms = project.traffic.storms.value;
  const unmade = unmadeLinks(project);
  return (
    <div class="canvas-notices">
      {storms.size > 0 && <StormNotice storms={storms} />}
      {unmade.map((link) => (
        <UnmadeNotice key={link.ids[0]} link={link} />
      ))}
    </div>
  );
}

interface StormNoticeProps {
  readonly storms: ReadonlyMap<string, LinkStorm>;
}

function StormNotice({ storms }: StormNoticeProps) {
  const app = useApp();
  const project = useProject();
  const [closer] = [...storms].flatMap(([id, { closes_loop }]) => (closes_loop ? id : []));
  const shown = closer === undefined ? [...storms.keys()] : [closer];
  const suspend = (id: string) => app.toasts.attempt(() => app.api.put(`${project.path}/links/${id}`, { suspend: true }));
  return (
    <div class="storm-notice">
      <Notice level="warning">
        {closer === undefined ? words.carried(storms.size) : words.closedBy(linkText(project, closer))}
      </Notice>
      <Button onClick={() => project.selection.set(shown)}>{texts.show}</Button>
      {closer !== undefined && <Button onClick={() => suspend(closer)}>{texts.suspendLink}</Button>}
    </div>
  );
}

function linkText(project: ProjectState, id: string): string {
  const link = project.links.find(id);
  if (!link) return '?';
  return endNames(project, link)
    .map((name, end) => {
      const node = project.nodes.find(link.nodes[end]?.node_id ?? '');
      return node ? `${name} ${portName(node, link, end === 0 ? 0 : 1, 'short_name')}` : name;
    })
    .join(' – ');
}

/** A link that its computes refused to make. */
interface UnmadeLink {
  /** Ids of its attempts. */
  readonly ids: readonly string[];
  readonly ends: readonly LinkEnd[];
  readonly names: string;
  readonly message: string;
}

/** Attempts to join the same two ports are one: each has an id of its own. */
function unmadeLinks({ work, links, nodes }: ProjectState): UnmadeLink[] {
  const found = new Map<string, UnmadeLink>();
  for (const [id, ends] of work.ends.value) {
    const names = ends.flatMap(({ node_id }) => nodes.find(node_id)?.name ?? []);
    if (links.signalOf(id) || names.length !== 2) continue;
    const key = ends.map(portKey).sort().join(' ');
    const ids = [...(found.get(key)?.ids ?? []), id];
    found.set(key, { ids, ends, names: names.join(' – '), message: work.failures.value.get(id) ?? '' });
  }
  return [...found.values()];
}

function UnmadeNotice({ link: { ids, ends, names, message } }: { readonly link: UnmadeLink }) {
  const app = useApp();
  const { selection, work, path } = useProject();
  const dismiss = () => {
    for (const id of ids) work.dismiss(id);
  };
  const again = () => app.toasts.attempt(() => app.api.post(`${path}/links`, { nodes: ends }));
  return (
    <div class="unmade-link">
      <Notice level="error" close={dismiss}>
        {failure.unmade(names, message)}
      </Notice>
      <Button onClick={() => selection.set(ends.map(({ node_id }) => node_id))}>{texts.show}</Button>
      <Button onClick={again}>{failure.again}</Button>
    </div>
  );
}
