/** Keys of a project's objects in the API, and what becomes of them in a lab file. An export reports the rest. */
import { changed, type KeyTable, missing, needless, taken } from '../src/schema/foreign-map.ts';

const ofServer = needless('of this server');

export const projectKeys = {
  name: taken('`name`'),
  auto_close: taken('`project`'),
  auto_open: taken('`project`'),
  auto_start: taken('`project`'),
  checkpoint_bytes: taken('`project`'),
  checkpoint_minutes: taken('`project`'),
  drawing_grid_size: taken('`project`'),
  grid_size: taken('`project`'),
  on_close: taken('`project`'),
  replicate_link_state: taken('`project`'),
  scene_height: taken('`project`'),
  scene_width: taken('`project`'),
  show_grid: taken('`project`'),
  show_interface_labels: taken('`project`'),
  show_layers: taken('`project`'),
  snap_to_grid: taken('`project`'),
  supplier: taken('`project`'),
  variables: taken('`project`'),
  zoom: taken('`project`'),
  filename: ofServer,
  forked_from: ofServer,
  path: ofServer,
  project_id: ofServer,
  status: ofServer,
};

export const nodeKeys = {
  name: changed('without blanks'),
  node_type: taken('`kind`'),
  compute_id: taken('`compute`'),
  properties: changed('`properties` and short forms, such as `image` and `memory`; those that the server chooses are left out'),
  console_type: taken('`console_type`'),
  console_auto_start: taken('`console_auto_start`'),
  custom_adapters: taken('`custom_adapters`'),
  first_port_name: taken('`first_port_name`'),
  label: changed('`label`, without its text'),
  locked: taken('`locked`'),
  port_name_format: taken('`port_name_format`'),
  port_segment_size: taken('`port_segment_size`'),
  symbol: taken('`symbol`'),
  template_id: taken('`template_id`, or `template` for one with a booted machine'),
  x: taken('`x`'),
  y: taken('`y`'),
  z: taken('`z`'),
  ports: needless('they follow from the properties'),
  command_line: ofServer,
  console: needless('the server chooses a port; `console` gives one'),
  console_host: ofServer,
  height: needless('of the symbol'),
  node_directory: ofServer,
  node_id: ofServer,
  project_id: ofServer,
  status: ofServer,
  width: needless('of the symbol'),
};

/** Keys of a link that no file has. */
export const linkFacts = {
  capture_compute_id: ofServer,
  capture_file_name: ofServer,
  capture_file_path: ofServer,
  capturing: needless('a capture ends with its link'),
  link_id: ofServer,
  link_type: needless('follows from its ends'),
  project_id: ofServer,
};

export const linkKeys = {
  nodes: taken('`ends`'),
  filters: taken('`filters`'),
  suspend: taken('`suspend`'),
  link_style: taken('`style`'),
  ...linkFacts,
};

export const drawingKeys = {
  svg: taken('`svg`'),
  x: taken('`x`'),
  y: taken('`y`'),
  z: taken('`z`'),
  rotation: taken('`rotation`'),
  locked: taken('`locked`'),
  drawing_id: ofServer,
  project_id: ofServer,
};

/** Parts of a project beside the objects above. */
export const partKeys = {
  mirrors: taken('`mirror` of a link'),
  schedules: taken('`schedule` of a link, which starts when it is applied'),
  'start-up configurations': taken('`config` and `files`'),
  'other files of nodes, disks and memory': missing('a comment names nodes with volumes and config disks'),
  'notes (README.txt)': missing('a comment says so'),
  snapshots: missing('a comment gives their number'),
  checks: missing('a project has none'),
};

/** Lists the keys of an object that an export does not have: those that its table calls missing, and those that it does not know. */
export function lostKeys(value: object, keys: KeyTable): string[] {
  return Object.entries(value).flatMap(([key, one]) => {
    const fate = Object.hasOwn(keys, key) ? keys[key]?.fate : 'missing';
    const isNothing = one === null || one === undefined || one === '' || (Array.isArray(one) && one.length === 0);
    return fate === 'missing' && !isNothing ? [key] : [];
  });
}
