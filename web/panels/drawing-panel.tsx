/** Panel of a drawing: its text, or its colours and lines. */
import type { Drawing, DrawingInput } from '../../src/schema/drawing.ts';
import { ActionButton } from '../actions/action-button.tsx';
import { getAction } from '../actions/actions.ts';
import type { Ink, Picture, TextLook } from '../geometry/picture.ts';
import { shapeSvg, textSvg, withGroup } from '../scene/shape-svg.ts';
import { useApp, useProject } from '../state/app.ts';
import { texts } from '../texts.ts';
import { ColourField, NumberField, SwitchField, TextField } from '../ui/field.tsx';

export function DrawingPanel({ drawing }: { readonly drawing: Drawing }) {
  const { api } = useApp();
  const project = useProject();
  const picture = project.pictures.of(drawing.svg);
  const isGroup = project.groups.isGroup(drawing.drawing_id);
  const change = (update: DrawingInput) => api.put(`${project.path}/drawings/${drawing.drawing_id}`, update);
  return (
    <>
      <header class="panel-head">
        <h2>{isGroup ? texts.groupPanel : texts.shape[picture.shape]}</h2>
      </header>
      {isGroup && picture.shape === 'rectangle' && (
        <TextField
          label={texts.name}
          value={picture.name ?? ''}
          onChange={(name) => change({ svg: withGroup(drawing.svg, { name }) })}
        />
      )}
      {picture.shape === 'text' && <TextForm picture={picture} change={change} />}
      {(picture.shape === 'rectangle' || picture.shape === 'ellipse' || picture.shape === 'line') && (
        <ShapeForm picture={picture} change={change} />
      )}
      <NumberField
        label={texts.rotation}
        unit="°"
        minimum={-359}
        maximum={360}
        value={drawing.rotation}
        onChange={(rotation) => change({ rotation })}
      />
      <div class="button-grid">
        {[...(isGroup ? ['collapse', 'ungroup'] : []), 'lock', 'raise', 'lower', 'delete'].map((id) => (
          <ActionButton key={id} action={getAction(id)} withLabel kind="plain" />
        ))}
      </div>
    </>
  );
}

type Change = (update: DrawingInput) => unknown;

function TextForm({ picture, change }: { readonly picture: Extract<Picture, { shape: 'text' }>; readonly change: Change }) {
  const { look, ink, lines } = picture;
  const text = lines.map((line) => line.text).join('\n');
  const send = (update: { text?: string; look?: Partial<TextLook>; fill?: string }) =>
    change({ svg: textSvg(update.text ?? text, { ...look, ...update.look }, update.fill ?? ink.fill) });
  return (
    <>
      <TextField label={texts.text} lines={4} value={text} onChange={(value) => value !== '' && send({ text: value })} />
      <div class="row">
        <NumberField
          label={texts.fontSize}
          unit="px"
          minimum={4}
          maximum={200}
          value={Math.round(look.sizePx)}
          onChange={(sizePx) => send({ look: { sizePx } })}
        />
        <ColourField label={texts.colour} value={ink.fill ?? '#000000'} onChange={(fill) => send({ fill })} />
      </div>
      <SwitchField
        label={texts.bold}
        value={look.weight === 'bold'}
        onChange={(on) => send({ look: { weight: on ? 'bold' : 'normal' } })}
      />
      <SwitchField label={texts.italic} value={look.italic === true} onChange={(italic) => send({ look: { italic } })} />
    </>
  );
}

type Shape = Extract<Picture, { shape: 'rectangle' | 'ellipse' | 'line' }>;

function ShapeForm({ picture, change }: { readonly picture: Shape; readonly change: Change }) {
  const { shape, ink, width, height } = picture;
  const rises = shape === 'line' && (picture.to[0] - picture.from[0]) * (picture.to[1] - picture.from[1]) < 0;
  const marks = 'group' in picture ? picture : undefined;
  const send = (update: { ink?: Ink; width?: number; height?: number }) => {
    const look = { rises, ink: { ...ink, ...update.ink }, radius: 'radius' in picture ? picture.radius : 0 };
    const svg = shapeSvg(shape, { width, height, ...update }, look);
    return change({ svg: marks ? withGroup(svg, marks) : svg });
  };
  const size = (label: string, key: 'width' | 'height', value: number) => (
    <NumberField
      label={label}
      unit="px"
      minimum={1}
      maximum={20000}
      value={Math.round(value)}
      onChange={(number) => send({ [key]: number })}
    />
  );
  return (
    <>
      <div class="row">
        {size(texts.width, 'width', width)}
        {size(texts.height, 'height', height)}
      </div>
      <div class="row">
        <ColourField label={texts.lineColour} value={ink.stroke ?? '#000000'} onChange={(stroke) => send({ ink: { stroke } })} />
        <NumberField
          label={texts.lineWidth}
          unit="px"
          minimum={0}
          maximum={50}
          value={ink.strokeWidth ?? 2}
          onChange={(strokeWidth) => send({ ink: { strokeWidth } })}
        />
      </div>
      {shape !== 'line' && (
        <div class="row">
          <ColourField
            label={texts.fillColour}
            value={ink.fill ?? '#ffffff'}
            onChange={(fill) => send({ ink: { fill, opacity: ink.opacity || 1 } })}
          />
          <NumberField
            label={texts.opacity}
            unit="%"
            minimum={0}
            maximum={100}
            value={Math.round((ink.opacity ?? 1) * 100)}
            onChange={(percent) => send({ ink: { opacity: percent / 100 } })}
          />
        </div>
      )}
    </>
  );
}
