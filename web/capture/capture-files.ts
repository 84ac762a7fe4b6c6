/** Capture files of a project: their paths and names, and the dock that shows them. */
import type { CaptureFile } from '../../src/schema/capture.ts';
import type { Link } from '../../src/schema/link.ts';
import type { Api } from '../api.ts';
import type { App } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';

/** A packet table needs more height than a console. */
const lowestPx = 380;
/** Length limit of a node's name within the name of a file. */
const longestName = 60;

export function openDock({ consoles }: App, tab: string): void {
  consoles.heightPx.value = Math.max(consoles.heightPx.peek(), lowestPx);
  consoles.open(tab);
}

/** Path of the API, also for a file that only a remote compute has. */
export const captureFilePath = ({ path }: Pick<ProjectState, 'path'>, name: string) =>
  `${path}/captures/${encodeURIComponent(name)}`;

/** The typed name, numbered when the project has such a file: the server would replace it. @throws ApiError */
export async function unusedName(api: Api, { path }: ProjectState, typed: string): Promise<string> {
  const base = typed.replace(/\.pcap$/, '');
  const taken = new Set((await api.get<CaptureFile[]>(`${path}/captures`)).map(({ name }) => name));
  let name = `${base}.pcap`;
  for (let number = 2; taken.has(name); number += 1) name = `${base}-${number}.pcap`;
  return name;
}

/** A name after the link and the time. */
export function nameOfCapture(project: ProjectState, link: Link): string {
  const ends = link.nodes.map(({ node_id, adapter_number, port_number }) => {
    const name = project.nodes.peek(node_id)?.name.slice(0, longestName) ?? '';
    return `${name}_${adapter_number}-${port_number}`;
  });
  const time = new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
  return `${ends.join('_to_').replaceAll(/[^0-9A-Za-z_-]/g, '')}_${time}.pcap`;
}
