/** Notices over the canvas, a line each: what is wrong in the lab, where, and the button that repairs it. Loaded with the first running node. */
import './notices.css';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import type { LinkEnd } from '../../../src/schema/link.ts';
import { endNames } from '../../scene/link-view.tsx';
import { portName } from '../../scene/port-name.ts';
import { showItems } from '../../scene/show-items.ts';
import { type App, useApp, useProject } from '../../state/app.ts';
import { openConsole } from '../../state/open-console.ts';
import type { ProjectState } from '../../state/project.ts';
import { portKey } from '../../state/work.ts';
import { failure as linkTexts } from '../../texts/links.ts';
import { texts } from '../../texts.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import type { LabFinding, OneWay } from './findings.ts';
import { LabWatch } from './lab-watch.ts';
import { noticeTexts as words } from './notice-texts.ts';

/** Number of lines that leaves most of the canvas free. */
const mostShown = 4;

interface Line {
  readonly key: string;
  readonly text: string;
  /** Nodes and links to show. */
  readonly ids: readonly string[];
  readonly fix?: { readonly label: string; readonly run: () => unknown };
  readonly dismiss: () => void;
}

export function Notices() {
  const app = useApp();
  const project = useProject();
  const watch = useMemo(() => new LabWatch(app, project), [app, project]);
  useEffect(() => () => watch.close(), [watch]);
  const found = watch.findings.value.map((finding) => ({
    key: finding.key,
    ...lineOf(finding, app, project),
    dismiss: () => watch.dismiss(finding.key),
  }));
  const lines: Line[] = [...unmadeLinks(app, project), ...found];
  if (lines.length === 0) return null;
  return (
    <section class="canvas-notices" aria-label={words.label} role="status">
      {lines.slice(0, mostShown).map((line) => (
        <NoticeLine key={line.key} line={line}>
          {line.text}
        </NoticeLine>
      ))}
      {lines.length > mostShown && <p class="more">{words.more(lines.length - mostShown)}</p>}
    </section>
  );
}

function NoticeLine({ line: { ids, fix, dismiss }, children }: { readonly line: Line; readonly children: ComponentChildren }) {
  const app = useApp();
  const project = useProject();
  return (
    <div class="canvas-notice">
      <Notice level="warning" close={dismiss}>
        {children}
      </Notice>
      <Button onClick={() => showItems(app, project, ids)}>{texts.show}</Button>
      {fix && <Button onClick={fix.run}>{fix.label}</Button>}
    </div>
  );
}

function lineOf(finding: LabFinding, app: App, project: ProjectState): Pick<Line, 'text' | 'ids' | 'fix'> {
  const name = (id: string) => project.nodes.find(id)?.name ?? '?';
  const byName = (ids: readonly string[]) =>
    ids.toSorted((one, other) => name(one).localeCompare(name(other), undefined, { numeric: true }));
  const link = (id: string, change: object) => app.toasts.attempt(() => app.api.patch(`${project.path}/links/${id}`, change));
  const consoleOf = (id: string | undefined) => {
    const node = project.nodes.find(id ?? '');
    return node && { fix: { label: words.consoleOf(node.name), run: () => openConsole(app, node) } };
  };
  switch (finding.kind) {
    case 'storm': {
      const { closer, linkIds } = finding;
      if (closer === undefined) return { text: words.carried(linkIds.length), ids: linkIds };
      const fix = { label: texts.suspendLink, run: () => link(closer, { suspend: true }) };
      return { text: words.closedBy(linkText(project, closer)), ids: [closer], fix };
    }
    case 'image': {
      const showImages = async () => (await import('../remedies.tsx')).showImages(app);
      const fix = { label: texts.remedies.image, run: () => app.toasts.attempt(showImages) };
      return { text: words.image(byName(finding.nodeIds).map(name), finding.message), ids: finding.nodeIds, fix };
    }
    case 'address': {
      const ids = byName(finding.nodeIds);
      return { text: words.address(ids.map(name), finding.address), ids, ...consoleOf(ids.at(-1)) };
    }
    case 'mtu':
      return {
        text: words.mtu(byName(finding.nodeIds).map(name), finding.mtus),
        ids: finding.nodeIds,
        ...consoleOf(finding.nodeIds[0]),
      };
    case 'silent': {
      const { nodeId, minutes, received } = finding;
      return { text: words.silent(name(nodeId), minutes, received), ids: [nodeId], ...consoleOf(nodeId) };
    }
    default: {
      const fix = { label: words.removeFilter, run: () => link(finding.linkId, { filters: { [finding.filter]: null } }) };
      return { text: oneWayText(finding, project), ids: [finding.linkId], fix };
    }
  }
}

function oneWayText({ linkId, from, filter, lost, arrived }: OneWay, project: ProjectState): string {
  const link = project.links.find(linkId);
  const names = link ? endNames(project, link) : (['?', '?'] as const);
  const title = filter.replace(/_(ab|ba)$/, '').replaceAll('_', ' ');
  return words.oneWay(from === 0 ? [names[0], names[1]] : [names[1], names[0]], title, lost, arrived);
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

/** Links that their computes refused to make. Attempts to join the same two ports are one line: each has an id of its own. */
function unmadeLinks({ toasts, api }: App, { work, links, nodes, path }: ProjectState): Line[] {
  const attempts = Map.groupBy(
    Array.from(work.ends.value).filter(([id]) => !links.find(id)),
    ([, ends]) => ends.map(portKey).sort().join(' '),
  );
  return Array.from(attempts).flatMap(([key, [...tried]]) => {
    const [id, ends] = tried.at(-1) ?? ['', [] as readonly LinkEnd[]];
    const names = ends.flatMap(({ node_id }) => nodes.find(node_id)?.name ?? []);
    if (names.length !== 2) return [];
    const text = words.unmade(names.join(' – '), work.failures.value.get(id) ?? '');
    const again = () => toasts.attempt(() => api.post(`${path}/links`, { nodes: ends }));
    const dismiss = () => {
      for (const [each] of tried) work.dismiss(each);
    };
    return [{ key, text, ids: ends.map(({ node_id }) => node_id), fix: { label: linkTexts.again, run: again }, dismiss }];
  });
}
