/** Reads a server's state and plans a lab against it. */
import type { Project } from '../src/schema/project.ts';
import type { Lab } from './file/lab.ts';
import type { LabPlan } from './plan/lab-plan.ts';
import { missingImages } from './plan/missing-images.ts';
import { planLab } from './plan/plan-lab.ts';
import { unseenFiles } from './plan/unseen-files.ts';
import type { LabApi } from './state/lab-api.ts';
import { findProject, getProject, type LabProjectState, readLabCatalog, readProject } from './state/lab-state.ts';

interface PlanOptions {
  /** Name or id of an existing project, instead of the name in the file. */
  readonly project?: string | undefined;
  /** Open the project if it is closed. */
  readonly open?: boolean;
}

interface PlannedLab {
  readonly plan: LabPlan;
  /** State of the project; undefined when it does not exist. */
  readonly state: LabProjectState | undefined;
}

/** Plans a lab. @throws LabError, and errors of requests */
export async function planOn(api: LabApi, lab: Lab, options: PlanOptions = {}): Promise<LabPlan> {
  return (await planWithState(api, lab, options)).plan;
}

export async function planWithState(api: LabApi, lab: Lab, { project: wanted, open = false }: PlanOptions): Promise<PlannedLab> {
  const [catalog, found] = await Promise.all([
    readLabCatalog(api, lab),
    wanted === undefined ? findProject(api, lab.name) : getProject(api, wanted),
  ]);
  const project = found && open ? await openProject(api, found) : found;
  const state = project && (await readProject(api, project, lab));
  const plan = planLab(lab, state, catalog);
  const [missing, unseen] = await Promise.all([
    missingImages(api, plan, { state, catalog }),
    unseenFiles(api, plan, { state, catalog }),
  ]);
  return { plan: { ...plan, missing, unseen }, state };
}

export async function openProject(api: LabApi, project: Project): Promise<Project> {
  if (project.status === 'opened') return project;
  return api.json<Project>('POST', `/v2/projects/${project.project_id}/open`, {});
}
