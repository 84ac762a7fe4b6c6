/**
 * The floors inside the rooms, from the highest to the lowest. An entry is a folder or a file of the room, and of two entries
 * that hold a file the longer one counts (`live/links` before `live`). A file imports from its own entry and from lower floors: never
 * from a higher one, nor from another entry of its own floor. Types count as well.
 */
export const floors: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'src/controller': [
    ['routes'],
    ['controller.ts'],
    ['relocation'],
    ['archive'],
    ['projects'],
    ['live'],
    ['live/history'],
    ['live/captures'],
    ['live/links'],
    ['live/drawings', 'live/nodes'],
    ['live/host'],
    ['slices', 'placement'],
    ['engines/kubernetes', 'engines/process', 'engines/slurm'],
    // A driver has an entry of its own above theirs (`engines/slurm`), so that drivers do not import each other.
    ['catalog', 'computes', 'engines'],
    ['log', 'zip'],
    ['model'],
  ],
  'src/fabric': [
    ['main.ts', 'client.ts'],
    ['control', 'connection'],
    ['links', 'traffic'],
    ['captures', 'switches', 'kernel-paths'],
    ['ports', 'delays'],
    ['filters', 'schedules'],
    ['frames.ts', 'bpf-compile.ts', 'redirection.ts'],
    ['protocol.ts'],
    ['requests.ts'],
  ],
  'src/emulators': [
    ['drivers.ts'],
    ['kinds.ts'],
    // Its user network is that of another kind's emulator.
    ['nat'],
    [
      ...['atm-switch', 'cloud', 'docker', 'dynamips', 'ethernet-hub', 'ethernet-switch', 'frame-relay-switch', 'iou'],
      ...['qemu', 'traceng', 'virtualbox', 'vmware', 'vpcs'],
    ],
    ['fabric-switches', 'storage-only', 'port-processes'],
    ['facts', 'host'],
    ['driver.ts'],
    ['kind.ts'],
  ],
  'src/lab': [
    ['checks', 'lab-routes.ts'],
    ['thread'],
    ['open-lab.ts'],
    ['apply.ts', 'export.ts', 'import', 'field-tables.ts', 'lab-picture.ts', 'schema-document.ts'],
    ['plan'],
    ['state', 'layout.ts'],
    ['file'],
    ['checks/definition'],
  ],
  'src/cli': [
    ['run-cli.ts'],
    ['commands.ts', 'help.ts'],
    ['completion.ts', 'mcp', 'test'],
    ['lab', 'slices-commands.ts'],
    ['address.ts', 'output.ts'],
    ['command.ts'],
    ['server-client.ts'],
  ],
  'src/compute': [
    ['compute.ts', 'api.ts'],
    ['routes'],
    ['projects'],
    ['nodes'],
    ['console', 'context.ts'],
    ['links', 'captures'],
    ['store.ts', 'host'],
  ],
  web: [
    ['main.tsx'],
    ['page.tsx'],
    ['panels'],
    ['catalog', 'console', 'impair'],
    ['actions'],
    ['capture', 'dialogs', 'scene'],
    ['ui'],
    ['state'],
    ['geometry', 'api.ts', 'router.ts', 'modules.d.ts'],
    ['texts.ts'],
  ],
};

/** Rooms of more lines have floors. */
export const mostLinesWithoutFloors = 3000;
