/** The templates: search them, drag them onto the canvas, or click to add a node. */
import { type Signal, useSignal } from '@preact/signals';
import type { Template } from '../../src/schema/template.ts';
import { addNode } from '../scene/add-node.ts';
import { templateType } from '../scene/drop.ts';
import { useApp, useProject } from '../state/app.ts';
import { texts } from '../texts.ts';
import { DeviceSymbol } from '../ui/device-symbol.tsx';
import { focusCanvas, moveFocus } from '../ui/focus.ts';
import { Icon } from '../ui/icon.tsx';
import { showLazily } from '../ui/lazy.tsx';
import { findingsOf, useFindings } from './doctor.tsx';

export function Palette() {
  const app = useApp();
  const { server } = app;
  const project = useProject();
  const search = useSignal('');
  const wanted = search.value.trim().toLowerCase();
  const isUsed = useSignal(false);
  const findings = useFindings('local', isUsed.value);
  /** Known reasons why nodes of a template cannot run. */
  const lackOf = ({ template_type, compute_id }: Template): string | undefined => {
    const compute = server.computes.find(compute_id ?? 'local');
    if (compute?.connected && !compute.capabilities.node_types.includes(template_type))
      return texts.kindMissing(texts.kind[template_type], compute.name);
    if (compute?.compute_id !== 'local') return undefined;
    const lacks = findingsOf(findings.value, template_type).filter(({ required }) => required);
    return lacks.length === 0 ? undefined : texts.lacks(lacks);
  };
  const shown = server.templates.all.value.filter(({ name, template_type }) =>
    `${name} ${template_type}`.toLowerCase().includes(wanted),
  );
  const openGallery = () =>
    showLazily(app, async () => {
      const { GallerySheet } = await import('../catalog/gallery-sheet.tsx');
      return (close) => <GallerySheet project={project} close={close} />;
    });
  const own = shown.filter(({ builtin }) => !builtin);
  const builtIn = shown.filter(({ builtin }) => builtin);
  return (
    <aside
      class="palette"
      aria-label={texts.palette}
      // The check takes the compute a moment, so it starts when the pointer or the focus enters.
      onPointerEnter={() => (isUsed.value = true)}
      onFocusCapture={() => (isUsed.value = true)}
    >
      <PaletteSearch search={search} first={own[0] ?? builtIn[0]} />
      <div class="palette-list" role="toolbar" aria-orientation="vertical" aria-label={texts.palette} onKeyDown={moveFocus}>
        <PaletteGroup title={texts.ownTemplates} templates={own} lackOf={lackOf} />
        <PaletteGroup title={texts.builtInTemplates} templates={builtIn} lackOf={lackOf} />
        {shown.length === 0 && <p class="empty">{texts.nothingFound(search.value)}</p>}
      </div>
      <nav class="palette-foot" aria-label={texts.catalogViews}>
        <button type="button" onClick={openGallery}>
          <Icon name="plus" /> {texts.moreAppliances}
        </button>
        <a href="/templates">
          <Icon name="edit" /> {texts.editTemplates}
        </a>
      </nav>
    </aside>
  );
}

interface PaletteSearchProps {
  readonly search: Signal<string>;
  /** Enter adds a node of this one. */
  readonly first: Template | undefined;
}

function PaletteSearch({ search, first }: PaletteSearchProps) {
  const app = useApp();
  const project = useProject();
  return (
    <label class="search">
      <Icon name="search" />
      <input
        type="search"
        placeholder={texts.searchTemplates}
        aria-label={texts.searchTemplates}
        value={search.value}
        onInput={({ currentTarget }) => {
          search.value = currentTarget.value;
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && first) void addNode(app, project, first.template_id);
          else if (event.key === 'Escape') focusCanvas();
          else if (event.key === 'ArrowDown')
            event.currentTarget.closest('.palette')?.querySelector<HTMLElement>('.template')?.focus();
          else return;
          event.preventDefault();
        }}
      />
    </label>
  );
}

interface PaletteGroupProps {
  readonly title: string;
  readonly templates: readonly Template[];
  readonly lackOf: (template: Template) => string | undefined;
}

function PaletteGroup({ title, templates, lackOf }: PaletteGroupProps) {
  if (templates.length === 0) return null;
  return (
    <section>
      <h2>{title}</h2>
      <ul>
        {templates.map((template) => (
          <PaletteEntry key={template.template_id} template={template} lack={lackOf(template)} />
        ))}
      </ul>
    </section>
  );
}

interface PaletteEntryProps {
  readonly template: Template;
  readonly lack: string | undefined;
}

function PaletteEntry({ template: { template_id, name, symbol }, lack }: PaletteEntryProps) {
  const app = useApp();
  const project = useProject();
  return (
    <li>
      <button
        type="button"
        class="template"
        draggable
        title={lack ?? texts.addTemplate(name)}
        onDragStart={({ dataTransfer }) => dataTransfer?.setData(templateType, template_id)}
        onClick={() => addNode(app, project, template_id)}
      >
        <DeviceSymbol symbol={symbol} size={28} />
        <span>{name}</span>
        {lack && <Icon name="warning" />}
      </button>
    </li>
  );
}
