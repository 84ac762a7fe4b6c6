/** The engine that the configuration names. */
import { join } from 'node:path';
import type { Settings } from '../../schema/settings.ts';
import type { Engine } from '../engines/engine.ts';
import { accessOf } from '../engines/kubernetes/kube-access.ts';
import { KubeClient } from '../engines/kubernetes/kube-client.ts';
import { KubernetesEngine } from '../engines/kubernetes/kubernetes-engine.ts';
import { ProcessEngine } from '../engines/process/process-engine.ts';
import { SlurmClient } from '../engines/slurm/slurm-client.ts';
import { SlurmEngine } from '../engines/slurm/slurm-engine.ts';

type MakeEngine = (settings: Settings) => Engine;

const makers: Readonly<Record<string, MakeEngine>> = {
  process: ({ dataDirectory }) => new ProcessEngine(join(dataDirectory, 'slices')),
  kubernetes: ({ Kubernetes: section }) => {
    const { socket, namespace, command } = section;
    const client = new KubeClient(() => accessOf({ socket, namespace }));
    return new KubernetesEngine({ client, settings: { ...section, command: wordsOf(command) } });
  },
  slurm: ({ Slurm: section }) =>
    new SlurmEngine({ client: new SlurmClient(), settings: { ...section, command: wordsOf(section.command) } }),
};

function wordsOf(line: string): string[] {
  return line.split(/\s+/).filter((word) => word !== '');
}

/** Makes the engines, by name; none where slices are started by hand only. @throws Error for an unknown engine name */
export function makeEngines(settings: Settings): Map<string, Engine> {
  const { engine: name } = settings.Cluster;
  if (name === '') return new Map();
  const make = Object.hasOwn(makers, name) ? makers[name] : undefined;
  if (!make) throw new Error(`[Cluster] engine is one of ${Object.keys(makers).join(', ')}, not "${name}"`);
  return new Map([[name, make(settings)]]);
}
