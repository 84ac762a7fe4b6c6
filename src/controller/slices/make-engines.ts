/** The engine that the configuration names. */
import { join } from 'node:path';
import type { Settings } from '../../schema/settings.ts';
import type { Engine } from '../engines/engine.ts';
import { ProcessEngine } from '../engines/process/process-engine.ts';

type MakeEngine = (settings: Settings) => Engine;

const makers: Readonly<Record<string, MakeEngine>> = {
  process: ({ dataDirectory }) => new ProcessEngine(join(dataDirectory, 'slices')),
};

/** By name; none where slices are started by hand only. @throws Error for a name that is none */
export function makeEngines(settings: Settings): Map<string, Engine> {
  const { engine: name } = settings.Cluster;
  if (name === '') return new Map();
  const make = makers[name];
  if (!make) throw new Error(`[Cluster] engine is one of ${Object.keys(makers).join(', ')}, not "${name}"`);
  return new Map([[name, make(settings)]]);
}
