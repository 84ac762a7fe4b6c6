/** Labs to begin with: lab files of the package, made into projects of their own. */
import type { LabApplyLine, LabPlanReply } from '../../src/schema/lab.ts';
import type { Project } from '../../src/schema/project.ts';
import type { App } from '../state/app.ts';
import { texts } from '../texts.ts';
import { sampleTexts } from './sample-texts.ts';

export type SampleId = keyof typeof sampleTexts.labs;

/** Loads the text of a file. */
type LoadText = () => Promise<{ readonly default: string }>;

interface SampleFiles {
  readonly lab: LoadText;
  /** The guide through it. */
  readonly notes: LoadText;
}

const files: Readonly<Record<SampleId, SampleFiles>> = {
  campus: { lab: () => import('./samples/campus.yaml?raw'), notes: () => import('./samples/campus.md?raw') },
  'lossy-wan': { lab: () => import('./samples/lossy-wan.yaml?raw'), notes: () => import('./samples/lossy-wan.md?raw') },
  'vlan-trunk': { lab: () => import('../../labs/vlan-trunk.yaml?raw'), notes: () => import('../../labs/vlan-trunk.md?raw') },
  'ospf-failover': {
    lab: () => import('../../labs/ospf-failover.yaml?raw'),
    notes: () => import('../../labs/ospf-failover.md?raw'),
  },
  'bgp-filters': { lab: () => import('../../labs/bgp-filters.yaml?raw'), notes: () => import('../../labs/bgp-filters.md?raw') },
  'vrrp-split-brain': {
    lab: () => import('../../labs/vrrp-split-brain.yaml?raw'),
    notes: () => import('../../labs/vrrp-split-brain.md?raw'),
  },
  'dns-satellite': {
    lab: () => import('../../labs/dns-satellite.yaml?raw'),
    notes: () => import('../../labs/dns-satellite.md?raw'),
  },
};

/** Images for which the server has a recipe. */
const madeHere = /^patchbay-[a-z]+$/;

/** Pictures of labs: the canvas beside the notes shows them. */
const diagram = /^```mermaid\n.*?^```\n\n/gms;

export const sampleIds = Object.keys(files) as readonly SampleId[];

export interface SampleProgress {
  readonly label: string;
  /** Unknown while images are made. */
  readonly part?: number;
}

/** Progress of `POST /v2/lab_images`, one document per line. */
interface ImagesProgress {
  readonly step?: string;
  readonly images?: readonly string[];
  readonly failure?: string;
}

/** A name that no project has: a plan compares the lab with the project of its name. */
const planName = () => `sample ${crypto.getRandomValues(new Uint32Array(2)).join('')}`;

/** Plans the sample: its picture, and the images that are missing for it. @throws ApiError */
export async function planSample({ api }: App, id: SampleId, signal?: AbortSignal): Promise<LabPlanReply> {
  const { default: text } = await files[id].lab();
  const lab = text.replace(/^name: .*$/m, `name: ${planName()}`);
  return api.post<LabPlanReply>('/v2/labs/plan', { lab, file: `${id}.yaml` }, signal);
}

/** Has the server make the images that the sample lacks. @throws Error why they cannot be made */
async function makeImages(app: App, id: SampleId, report: (progress: SampleProgress) => void): Promise<void> {
  const plan = await planSample(app, id);
  const images = [...new Set(plan.missing.map(({ image }) => image))].filter((image) => madeHere.test(image));
  if (images.length === 0) return;
  report({ label: sampleTexts.making(images) });
  let last: ImagesProgress = {};
  try {
    const onLine = (line: ImagesProgress) => {
      last = line;
      if (line.step !== undefined) report({ label: line.step });
    };
    await app.api.lines<ImagesProgress>('/v2/lab_images', onLine, { images });
  } catch (error) {
    last = { failure: (error as Error).message };
  }
  if (last.images === undefined) throw new Error(sampleTexts.notMade(images, last.failure ?? sampleTexts.unfinished));
}

/** Makes missing images and the project, starts its nodes, and gives it notes. A project that cannot be completed is deleted. @throws Error why it cannot be made */
export async function openSample(app: App, id: SampleId, report: (progress: SampleProgress) => void): Promise<string> {
  const [{ default: text }, { default: notes }] = await Promise.all([files[id].lab(), files[id].notes()]);
  await makeImages(app, id, report);
  const name = unusedName(app, sampleTexts.labs[id].title);
  const made = await app.api.post<Project>('/v2/projects', {
    name,
    auto_close: false,
    show_grid: true,
    show_interface_labels: true,
  });
  const path = `/v2/projects/${made.project_id}`;
  try {
    let last: LabApplyLine = {};
    const onLine = (line: LabApplyLine) => {
      last = line;
      const { step, done = 0, total = 0 } = line;
      if (step) report({ label: texts.lab.progress(step, done, total), part: total > 0 ? done / total : 0 });
    };
    await app.api.lines<LabApplyLine>('/v2/labs/apply', onLine, {
      lab: text,
      file: `${id}.yaml`,
      project: made.project_id,
      start: true,
    });
    if (last.project_id === undefined) throw new Error(last.failure ?? sampleTexts.ended);
    await app.api.upload(`${path}/files/README.txt`, { body: new Blob([notes.replace(diagram, '')]) });
    await app.api.upload(`${path}/files/lab.yaml`, { body: new Blob([text]) });
    return made.project_id;
  } catch (error) {
    // Why the lab failed matters more than that its project is left.
    await app.api.delete(path).catch(() => undefined);
    throw error;
  }
}

function unusedName({ server }: App, title: string): string {
  const taken = new Set(server.projects.all.peek().map(({ name }) => name));
  let name = title;
  for (let number = 2; taken.has(name); number += 1) name = `${title} ${number}`;
  return name;
}
