/** Settings of a project, applied immediately. */
import type { Project, ProjectUpdate } from '../../src/schema/project.ts';
import { useApp } from '../state/app.ts';
import { texts } from '../texts.ts';
import { Dialog } from '../ui/dialog.tsx';
import { NumberField, SwitchField, TextField } from '../ui/field.tsx';

const switches = [
  'show_grid',
  'snap_to_grid',
  'show_interface_labels',
  'auto_start',
  'auto_open',
  'auto_close',
  'replicate_link_state',
] as const;
const sizes = ['grid_size', 'drawing_grid_size'] as const;

export function ProjectSettings({ project, close }: { readonly project: Project; readonly close: () => void }) {
  const app = useApp();
  const now = app.project.value?.project.value ?? project;
  const change = async (update: ProjectUpdate) => {
    const changed = await app.api.put<Project>(`/v2/projects/${project.project_id}`, update);
    const open = app.project.peek();
    if (open) open.project.value = changed;
  };
  return (
    <Dialog title={texts.actions.projectSettings} close={close}>
      <TextField
        label={texts.name}
        value={now.name ?? ''}
        onChange={(name) => name.trim() !== '' && change({ name: name.trim() })}
      />
      {switches.map((key) => (
        <SwitchField
          key={key}
          {...texts.projectSwitches[key]}
          value={now[key] ?? false}
          onChange={(value) => change({ [key]: value })}
        />
      ))}
      <SwitchField
        {...texts.freezeOnClose}
        value={now.on_close === 'freeze'}
        onChange={(freezes) => change({ on_close: freezes ? 'freeze' : 'stop' })}
      />
      <div class="row">
        {sizes.map((key) => (
          <NumberField
            key={key}
            label={texts.projectSizes[key]}
            unit="px"
            minimum={1}
            maximum={1000}
            value={now[key]}
            onChange={(value) => change({ [key]: value })}
          />
        ))}
      </div>
    </Dialog>
  );
}
