/** Two versions of a text, line by line. */
import { diffLines } from 'diff';
import { texts } from '../texts.ts';

export function DiffView({ before, after }: { readonly before: string; readonly after: string }) {
  const parts = diffLines(before, after, { timeout: limitMs });
  if (!parts) return <p class="empty">{texts.config.tooDifferent}</p>;
  if (parts.every(({ added, removed }) => !added && !removed)) return <p class="empty">{texts.config.same}</p>;
  return (
    <pre class="diff code">
      {parts.map(({ value, added, removed }) => (
        <span class={added ? 'added' : removed ? 'removed' : ''}>{marked(value, added ? '+ ' : removed ? '- ' : '  ')}</span>
      ))}
    </pre>
  );
}

/** The page does not stand still longer. */
const limitMs = 300;

const marked = (text: string, mark: string) =>
  text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => `${mark}${line}\n`)
    .join('');
