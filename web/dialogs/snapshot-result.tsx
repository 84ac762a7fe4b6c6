/** The end of a task with snapshots: its failure, or its success with links to the projects that it made. */
import { projectPath } from '../router.ts';
import { Failure } from '../ui/failure.tsx';
import { snapshotTexts } from './snapshot-texts.ts';
import type { Outcome } from './use-snapshots.ts';

interface SnapshotResultProps {
  readonly outcome: Outcome;
  readonly close: () => void;
}

export function SnapshotResult({ outcome: { failure, success, projects = [] }, close }: SnapshotResultProps) {
  if (!success) return <Failure text={failure} />;
  return (
    <p class="row" role="status">
      <span>{success}</span>
      {projects.map(({ project_id, name }) => (
        <a key={project_id} class="button plain" href={projectPath(project_id)} onClick={close}>
          {snapshotTexts.openFork(name ?? '')}
        </a>
      ))}
    </p>
  );
}
