/** Edits a text of the canvas in place. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useApp, useProject } from '../state/app.ts';
import { texts } from '../texts.ts';
import { isBlack } from './label.ts';
import { findRefused, focusEditor, Refusal } from './refused-text.tsx';
import { textSvg } from './shape-svg.ts';

export function TextEditor() {
  const { tools } = useApp();
  const { drawings, pictures } = useProject();
  const id = tools.editing.value;
  const drawing = id === undefined ? undefined : drawings.find(id);
  const picture = drawing && pictures.of(drawing.svg);
  if (!drawing || picture?.shape !== 'text') return null;
  return <Editor key={id} id={drawing.drawing_id} />;
}

function Editor({ id }: { readonly id: string }) {
  const app = useApp();
  const { viewport, tools, api } = app;
  const project = useProject();
  const field = useRef<HTMLTextAreaElement>(null);
  const drawing = project.drawings.find(id);
  const picture = drawing && project.pictures.of(drawing.svg);
  const { x, y, scale } = viewport.state.value;
  const refused = findRefused(app, id);
  useLayoutEffect(() => focusEditor(field.current, refused !== undefined), []);
  if (!drawing || picture?.shape !== 'text') return null;
  const { look, ink } = picture;
  const before = picture.lines.map(({ text }) => text).join('\n');
  const close = () => {
    tools.editing.value = undefined;
    document.querySelector<SVGSVGElement>('svg.canvas')?.focus({ preventScroll: true });
  };
  const keep = (text: string) => {
    if (tools.editing.peek() !== id) return;
    close();
    tools.refused.value = undefined;
    const svg = textSvg(text, look, ink.fill);
    if (text.trim() === '' || text === before) return;
    api.put(`${project.path}/drawings/${id}`, { svg }).catch(({ message: reason }: Error) => {
      tools.refused.value = { id, text, reason };
      tools.editing.value = id;
    });
  };
  return (
    <>
      <textarea
        ref={field}
        class="text-editor"
        aria-label={texts.editText}
        style={{
          transform: `translate(${drawing.x * scale + x}px, ${drawing.y * scale + y}px) rotate(${drawing.rotation}deg) scale(${scale})`,
          fontSize: `${look.sizePx}px`,
          fontWeight: look.weight ?? 450,
          ...(look.italic && { fontStyle: 'italic' }),
          ...(!isBlack(ink.fill) && { color: ink.fill }),
        }}
        aria-invalid={refused !== undefined}
        onBlur={({ currentTarget }) => currentTarget.value !== refused?.text && keep(currentTarget.value)}
        onKeyDown={(event) => {
          // Undo reverts the change: nothing that was typed is lost.
          if (event.key === 'Escape' || (event.key === 'Enter' && (event.ctrlKey || event.metaKey)))
            keep(event.currentTarget.value);
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      >
        {refused?.text ?? before}
      </textarea>
      <Refusal text={refused?.reason} at={{ x: drawing.x * scale + x, y: drawing.y * scale + y }} />
    </>
  );
}
