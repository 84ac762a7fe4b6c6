/** Files of a plan that are outside the volumes of their containers. */
import { imageVolumesPath, isInVolumes, unseenFile } from '../../src/schema/container-files.ts';
import type { LabApi } from '../state/lab-api.ts';
import { bounded, type LabCatalog, type LabProjectState } from '../state/lab-state.ts';
import type { LabPlan } from './lab-plan.ts';

interface OutsideFiles {
  readonly name: string;
  /** Where the compute tells the volumes of the node's image. */
  readonly source: string;
  readonly paths: readonly string[];
}

/** Returns a sentence for each file that its container does not see, or may not see where the volumes of its image are not known. */
export async function unseenFiles(
  api: Pick<LabApi, 'json'>,
  plan: LabPlan,
  { state, catalog }: { readonly state: Pick<LabProjectState, 'nodes'> | undefined; readonly catalog: Pick<LabCatalog, 'kinds'> },
): Promise<string[]> {
  const outside = outsideFiles(plan, state, catalog);
  const declared = new Map<string, readonly string[]>();
  await bounded(new Set(outside.map(({ source }) => source)), async (source) => {
    const { volumes } = await api.json<{ volumes: unknown }>('GET', source).catch(() => ({ volumes: null }));
    if (Array.isArray(volumes)) declared.set(source, volumes);
  });
  return outside.flatMap(({ name, source, paths }) => paths.flatMap((path) => unseenFile(name, path, declared.get(source)) ?? []));
}

/** Lists the files that are in none of their node's `extra_volumes`. */
function outsideFiles(
  { nodes }: LabPlan,
  state: Pick<LabProjectState, 'nodes'> | undefined,
  { kinds }: Pick<LabCatalog, 'kinds'>,
): OutsideFiles[] {
  const present = new Map(state?.nodes.map((node) => [node.node_id, node]));
  return nodes.flatMap(({ name, id, create, update, files }) => {
    const node = create ?? (id === undefined ? undefined : present.get(id));
    const facts = node && kinds.get(node.node_type);
    if (!node || !facts?.engine_images) return [];
    const properties = { ...node.properties, ...update?.properties };
    const paths = [...files.keys()].filter((path) => !isInVolumes(path, properties.extra_volumes, facts.lab.files ?? []));
    if (paths.length === 0) return [];
    const compute = node.compute_id === 'auto' ? 'local' : node.compute_id;
    const image = imageVolumesPath(String(properties[facts.lab.image ?? ''] ?? ''));
    const source = [compute, node.node_type, ...image.split('/')].map(encodeURIComponent).join('/');
    return [{ name, source: `/v2/computes/${source}`, paths }];
  });
}
