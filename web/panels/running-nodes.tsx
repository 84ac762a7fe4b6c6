/** The running nodes of all open projects. */
import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Node } from '../../src/schema/node.ts';
import { projectPath } from '../router.ts';
import { useApp } from '../state/app.ts';
import { texts } from '../texts.ts';

interface Running {
  readonly node: Node;
  readonly project: string;
}

/** The server notifies of nodes only in the feed of their project, so this list polls. */
const everyMs = 5_000;

export function RunningNodes() {
  const app = useApp();
  const running = useSignal<readonly Running[] | undefined>(undefined);
  const tick = useSignal(0);
  useEffect(() => {
    const timer = setInterval(() => (tick.value += 1), everyMs);
    return () => clearInterval(timer);
  }, [tick]);
  useSignalEffect(() => {
    tick.value;
    const opened = app.server.projects.all.value.filter(({ status }) => status === 'opened');
    const nodesOf = async ({ project_id, name }: (typeof opened)[number]) => {
      const nodes = await app.api.get<Node[]>(`/v2/projects/${project_id}/nodes`);
      return nodes.filter(({ status }) => status === 'started').map((node) => ({ node, project: name ?? '' }));
    };
    void Promise.allSettled(opened.map(nodesOf)).then((answers) => {
      running.value = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    });
  });
  if (running.value === undefined) return <p>{texts.loading}</p>;
  if (running.value.length === 0) return <p>{texts.serverPage.nothingRuns}</p>;
  return (
    <ul class="plain-list">
      {running.value.map(({ node, project }) => (
        <li key={node.node_id}>
          <span class="dot started" />
          <span>
            <strong>{node.name}</strong>
            <small>{texts.kind[node.node_type]}</small>
          </span>
          <small>{app.server.computes.find(node.compute_id)?.name ?? node.compute_id}</small>
          <a href={projectPath(node.project_id)}>{project}</a>
        </li>
      ))}
    </ul>
  );
}
