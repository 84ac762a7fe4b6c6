/** Text in code marks: a button that shows the node or link of this name, where there is one. */
import { useComputed } from '@preact/signals';
import { showItems } from '../../scene/show-items.ts';
import { useApp, useProject } from '../../state/app.ts';
import { useItemNames } from './item-names.ts';
import { notesTexts as texts } from './notes-texts.ts';

export function ShownName({ text }: { readonly text: string }) {
  const app = useApp();
  const project = useProject();
  const names = useItemNames();
  const isName = useComputed(() => names.find(text).length > 0).value;
  if (!isName) return <code>{text}</code>;
  return (
    <button
      type="button"
      class="node-link code"
      aria-label={texts.show(text)}
      title={texts.show(text)}
      onClick={() => showItems(app, project, names.find(text))}
    >
      {text}
    </button>
  );
}
