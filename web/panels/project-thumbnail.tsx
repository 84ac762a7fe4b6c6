/** A project of the list as a small picture, with the counts of its nodes and links. Loaded when it comes into sight. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { ProjectOutline } from '../../src/schema/outline.ts';
import { useApp } from '../state/app.ts';
import { Icon } from '../ui/icon.tsx';

interface ThumbnailProps {
  readonly projectId: string;
  readonly status: string;
  readonly counted: (outline: ProjectOutline) => void;
}

/** Pixels. */
const size = { width: 64, height: 44, margin: 6 } as const;
/** Small labs are not drawn larger than this. Scene pixels. */
const leastExtent = 300;

export function ProjectThumbnail({ projectId, status, counted }: ThumbnailProps) {
  const { api } = useApp();
  const element = useRef<HTMLSpanElement>(null);
  const outline = useSignal<ProjectOutline | undefined>(undefined);
  useEffect(() => {
    const watcher = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      watcher.disconnect();
      // A row without its outline is complete, too: a damaged project has none.
      api.get<ProjectOutline>(`/v2/projects/${projectId}/outline`).then(
        (found) => {
          outline.value = found;
          counted(found);
        },
        () => undefined,
      );
    });
    if (element.current) watcher.observe(element.current);
    return () => watcher.disconnect();
  }, [api, projectId, status]);
  const isDrawn = (outline.value?.points.length ?? 0) > 0;
  return (
    <span ref={element} class={`project-icon ${status}`}>
      {outline.value && isDrawn ? <Picture {...outline.value} /> : <Icon name="folder" size={20} />}
    </span>
  );
}

function Picture({ points, lines }: ProjectOutline) {
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const [wide, high] = [Math.max(leastExtent, Math.max(...xs) - left), Math.max(leastExtent, Math.max(...ys) - top)];
  const { width, height, margin } = size;
  const scale = Math.min((width - 2 * margin) / wide, (height - 2 * margin) / high);
  const [middleX, middleY] = [(Math.max(...xs) + left) / 2, (Math.max(...ys) + top) / 2];
  const placed = points.map(({ x, y }) => [width / 2 + (x - middleX) * scale, height / 2 + (y - middleY) * scale] as const);
  const line = ({ from, to }: ProjectOutline['lines'][number]) => `M${placed[from]?.join(' ')}L${placed[to]?.join(' ')}`;
  return (
    <svg viewBox={`0 0 ${width} ${height}`} width={width} height={height} aria-hidden="true">
      <path d={lines.map(line).join('')} />
      {placed.map(([x, y], place) => (
        <circle key={`${place} ${x} ${y}`} cx={x} cy={y} r="2.4" />
      ))}
    </svg>
  );
}
