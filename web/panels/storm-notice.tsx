/** A notice while a loop floods the lab, with the links to suspend. Loaded with the first storm. */
import type { LinkStorm } from '../../src/schema/link-stats.ts';
import { endNames } from '../scene/link-view.tsx';
import { portName } from '../scene/port-name.ts';
import { useApp, useProject } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';
import { storm as words } from '../texts/links.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { Notice } from '../ui/notice.tsx';

interface StormNoticeProps {
  readonly storms: ReadonlyMap<string, LinkStorm>;
}

export function StormNotice({ storms }: StormNoticeProps) {
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
