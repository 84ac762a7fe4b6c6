/** Texts of commands and their groups. */

export const groups = {
  nodes: 'Nodes',
  links: 'Links',
  edit: 'Edit',
  draw: 'Link and draw',
  arrange: 'Arrange',
  view: 'View',
  project: 'Project',
  page: 'Page',
} as const;

export const actions = {
  console: 'Console',
  allConsoles: 'Open the consoles of all running nodes',
  delete: 'Delete',
  copy: 'Copy',
  paste: 'Paste',
  duplicate: 'Duplicate',
  selectAll: 'Select all',
  selectNext: 'Select the next item',
  selectPrevious: 'Select the previous item',
  selectNextLink: 'Select the next link, or the first link of the selected node',
  selectPreviousLink: 'Select the previous link',
  menu: 'Menu of the selection',
  nextRegion: 'Next region: canvas, details, consoles, templates',
  toCanvas: 'Focus the canvas, also from a console',
  leave: 'Leave the tool, clear the selection',
  undo: 'Undo',
  redo: 'Redo',
  wire: 'Add a link',
  impair: 'Delay, loss and other impairments',
  selectLabel: 'Select the label of a node or link; arrow keys move it',
  resetLabels: 'Reset labels',
  lock: 'Lock in place',
  raise: 'Bring forward',
  lower: 'Send backward',
  zoomIn: 'Zoom in',
  zoomOut: 'Zoom out',
  zoomReal: 'Zoom to 100 %',
  fit: 'Fit the whole project',
  minimap: 'Minimap, in projects of 20 nodes or more',
  palette: 'Add nodes',
  inspector: 'Details',
  trace: 'Trace a packet to the other node',
  follow: (name: string) => `Follow ${name}`,
  unfollow: (name: string) => `Stop following ${name}`,
  overlay: {
    impairment: 'Overlay: impairments',
    rate: 'Overlay: rates',
    loss: 'Overlay: lost frames',
    segments: 'Overlay: subnets and VLANs',
    state: 'Overlay: state of nodes and links',
  },
  labText: 'The lab as text (YAML)',
  timeLine: 'Time line: changes, freezes and captures',
  snapshots: 'Snapshots',
  freeze: 'Freeze the lab',
  projectSettings: 'Project settings',
  export: 'Export',
  closeProject: 'Close project',
  find: 'Find anything',
  keys: 'Keys and help',
  theme: 'Light or dark',
  account: 'Account',
  signOut: 'Sign out',
  signOutEverywhere: 'Sign out everywhere',
  notes: 'Notes',
  activity: 'Activity',
  access: 'Share the project',
  share: 'Share this view',
  saveSvg: 'Save the canvas as SVG',
  savePng: 'Save the canvas as PNG',
  symbols: 'Flat or classic symbols',
} as const;

export const power = {
  start: { one: 'Start', all: 'Start all', busy: 'Starting…' },
  stop: { one: 'Stop', all: 'Stop all', busy: 'Stopping…' },
  suspend: { one: 'Suspend', all: 'Suspend all', busy: 'Suspending…' },
  reload: { one: 'Reload', all: 'Reload all', busy: 'Reloading…' },
  failed: (count: number, of: number) =>
    of === 1
      ? 'The node failed; the reason is shown at the node'
      : `${count} of ${of} nodes failed; the reasons are shown at the nodes`,
} as const;

export const align = {
  left: 'Align left',
  centre: 'Align centres',
  right: 'Align right',
  top: 'Align top',
  middle: 'Align middles',
  bottom: 'Align bottom',
} as const;

export const distribute = { across: 'Distribute horizontally', down: 'Distribute vertically' } as const;

export const layout = {
  layered: 'Arrange in layers',
  tree: 'Arrange by roles: uplinks, routers, switches, end devices',
  force: 'Arrange by forces',
  ring: 'Arrange in a ring',
} as const;

export const nudge = { left: 'Move left', right: 'Move right', up: 'Move up', down: 'Move down' } as const;
