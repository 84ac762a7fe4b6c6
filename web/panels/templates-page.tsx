/** All templates, to create, edit and delete, and their images. */
import { useSignal } from '@preact/signals';
import type { Template } from '../../src/schema/template.ts';
import { useApp } from '../state/app.ts';
import { texts } from '../texts.ts';
import { ask } from '../ui/ask.tsx';
import { Button } from '../ui/button.tsx';
import { DeviceSymbol } from '../ui/device-symbol.tsx';
import { Icon } from '../ui/icon.tsx';
import { MenuButton } from '../ui/menu-button.tsx';
import { sizeText } from '../ui/progress.tsx';
import { CatalogViews } from './catalog-pages.tsx';
import { ConvertTemplate } from './convert-dialog.tsx';
import { NewTemplate } from './new-template.tsx';
import { TemplateEditor } from './template-editor.tsx';
import { TopBar } from './top-bar.tsx';

export function TemplatesPage() {
  const app = useApp();
  const search = useSignal('');
  const wanted = search.value.trim().toLowerCase();
  const shown = app.server.templates.all.value
    .filter(({ name, template_type }) => `${name} ${template_type}`.toLowerCase().includes(wanted))
    .toSorted((one, other) => Number(one.builtin) - Number(other.builtin) || one.name.localeCompare(other.name));
  return (
    <div class="page">
      <TopBar />
      <main class="projects">
        <div class="projects-head">
          <h1>{texts.templates}</h1>
          <CatalogViews />
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
            />
          </label>
          <Button kind="primary" icon="plus" onClick={() => app.dialogs.show((close) => <NewTemplate close={close} />)}>
            {texts.newTemplate}
          </Button>
        </div>
        <ul class="project-list">
          {shown.map((template) => (
            <TemplateRow key={template.template_id} template={template} />
          ))}
        </ul>
      </main>
    </div>
  );
}

function TemplateRow({ template }: { readonly template: Template }) {
  const app = useApp();
  const { template_id, name, template_type, symbol, builtin, warm } = template;
  const path = `/v2/templates/${template_id}`;
  const edit = () => app.dialogs.show((close) => <TemplateEditor template={template} close={close} />);
  const convert = () => app.dialogs.show((close) => <ConvertTemplate template={template} close={close} />);
  const duplicate = () => app.toasts.attempt(() => app.api.post(`${path}/duplicate`));
  const remove = () =>
    app.toasts.attempt(async () => {
      if (await ask(app, { ...texts.askDeleteTemplate(name), danger: true })) await app.api.delete(path);
    });
  return (
    <li class="project-row">
      <button type="button" class="project-link" disabled={builtin} onClick={edit}>
        <DeviceSymbol symbol={symbol} size={36} />
        <span class="project-text">
          <strong>{name}</strong>
          <small>{texts.kind[template_type]}</small>
        </span>
        {builtin && <span class="chip">{texts.builtIn}</span>}
        {warm && (
          <span class="chip opened" title={texts.warmTemplate.explanation(warm.node_name)}>
            {texts.warmTemplate.holds(sizeText(warm.bytes))}
          </span>
        )}
      </button>
      {!builtin && (
        <MenuButton
          label={texts.actionsOf(name)}
          entries={[
            { label: texts.edit, icon: 'edit', run: edit },
            { label: texts.duplicate, icon: 'copy', run: duplicate },
            ...(app.server.canConvert(template_type)
              ? [{ label: texts.convert.offerTemplate, icon: 'swap' as const, run: convert }]
              : []),
            { label: texts.delete, icon: 'trash', danger: true, run: remove },
          ]}
        />
      )}
    </li>
  );
}
