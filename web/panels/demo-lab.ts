/** The lab that an empty server offers: the same as `npm run demo`, or a smaller one where its guest image is unavailable. */
import type { LinkEnd } from '../../src/schema/link.ts';
import type { Node } from '../../src/schema/node.ts';
import type { Project } from '../../src/schema/project.ts';
import { textSvg } from '../scene/shape-svg.ts';
import type { App } from '../state/app.ts';
import { texts } from '../texts.ts';

type Report = (text: string, part: number) => void;

/** Progress of `POST /v2/demo_lab`, one document per line. */
interface DemoProgress {
  readonly step?: string;
  readonly failure?: string;
  readonly machines?: readonly { readonly name: string; readonly properties: Record<string, unknown> }[];
  readonly pc?: { readonly address: string; readonly gateway: string };
}

type NodeBody = Readonly<Record<string, unknown>> & { readonly name: string };

interface Plan {
  /** Nodes of the lab in a row, each linked to the next. */
  readonly nodes: readonly NodeBody[];
  readonly note: string;
}

const distancePx = 230;
const shown = { replicate_link_state: true, show_grid: true, show_interface_labels: true };

/** @throws ApiError the server's refusal */
export async function buildDemo(app: App, report: Report): Promise<Project> {
  const { api } = app;
  report(texts.demo.guest, 0.05);
  const { nodes, note } = await planFor(app, report);
  report(texts.demo.nodes, 0.6);
  const project = await api.post<Project>('/v2/projects', { name: texts.demo.name, auto_close: false, ...shown });
  const path = `/v2/projects/${project.project_id}`;
  const made: Node[] = [];
  for (const [place, body] of nodes.entries()) {
    const x = Math.round((place - (nodes.length - 1) / 2) * distancePx) - 33;
    made.push(await api.post<Node>(`${path}/nodes`, { compute_id: 'local', x, y: -60, ...body }));
  }
  report(texts.demo.links, 0.75);
  for (const [place, one] of made.slice(0, -1).entries()) {
    const other = made[place + 1];
    // The first port links to the previous node, the second one to the next node.
    if (other) await api.post(`${path}/links`, { nodes: [endOf(one, place === 0 ? 0 : 1), endOf(other, 0)] });
  }
  await api.post(`${path}/drawings`, { svg: textSvg(note), x: -225, y: 70, z: 0 });
  report(texts.demo.starting, 0.85);
  await api.post(`${path}/nodes/start`);
  return project;
}

async function planFor(app: App, report: Report): Promise<Plan> {
  if (!app.server.nodeTypes.has('qemu')) return smallPlan(app);
  let last: DemoProgress = {};
  await app.api.lines<DemoProgress>('/v2/demo_lab', (progress) => {
    if (progress.step) report(progress.step, 0.3);
    last = progress;
  });
  const { machines, pc, failure } = last;
  if (machines && pc) return demoPlan(machines, pc);
  if (failure) app.toasts.show('error', texts.demo.smaller(failure));
  return smallPlan(app);
}

function demoPlan(machines: NonNullable<DemoProgress['machines']>, pc: NonNullable<DemoProgress['pc']>): Plan {
  const vms = machines.map((machine) => ({ ...machine, node_type: 'qemu', symbol: ':/symbols/qemu_guest.svg' }));
  return { nodes: [...vms, vpcs('PC1', `${pc.address}/24 ${pc.gateway}`)], note: texts.demo.note('VM1', '10.0.0.2') };
}

/** Two PCs, with a switch between them if the server has one. */
function smallPlan({ server }: App): Plan {
  const middle = { name: 'Switch1', node_type: 'ethernet_switch', symbol: ':/symbols/ethernet_switch.svg', y: -47 };
  const between = server.nodeTypes.has(middle.node_type) ? [middle] : [];
  return { nodes: [vpcs('PC1', '10.0.0.1/24'), ...between, vpcs('PC2', '10.0.0.2/24')], note: texts.demo.note('PC1', '10.0.0.2') };
}

function vpcs(name: string, ip: string): NodeBody {
  const properties = { startup_script: `set pcname ${name}\nip ${ip}\n` };
  return { name, node_type: 'vpcs', symbol: ':/symbols/vpcs_guest.svg', properties };
}

function endOf({ node_id, ports }: Node, number: number): LinkEnd {
  const { adapter_number = 0, port_number = 0 } = ports[number] ?? {};
  return { node_id, adapter_number, port_number };
}
