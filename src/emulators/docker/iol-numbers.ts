/**
 * Numbers of IOL images: no two containers of an engine have the same, also when several servers use it, as MAC addresses depend on them.
 *
 * Theory of operation. A container's label holds its number, so the engine's list of containers says which are taken. Two servers may choose
 * the same one at the same time. Each therefore looks again when its container exists, and gives it up when another has its number. The
 * container that was made later always finds the other one, so at most one stays. Both may give theirs up: the next choice is random.
 */
import { randomInt } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { fault } from '../../api/faults.ts';
import { nodeLabel, removeContainer } from './container.ts';
import type { DockerEngine } from './engine.ts';
import { type IolPlace, iolLabel, prepareIol } from './iol.ts';
import { iolWord, maxIolNumber } from './iol-environment.ts';

const mostTries = 10;

/** Makes the container of a node by `make`, which gets its number. Returns the container's id. @throws docker_failed, iou_failed */
export async function makeNumbered(
  engine: DockerEngine,
  nodeId: string,
  place: IolPlace,
  make: (number: number) => Promise<string>,
): Promise<string> {
  const word = iolWord(place.properties.environment);
  for (let tries = 1; tries <= mostTries; tries++) {
    const number = word === 'auto' ? await chooseNumber(engine, nodeId, place, tries > 1) : Number(word);
    await prepareIol(place, number);
    const id = await make(number);
    if (word !== 'auto') return id;
    const isShared = (await numbered(engine)).some((one) => one.nodeId !== nodeId && one.number === number);
    if (!isShared) return id;
    await removeContainer(engine, nodeId);
  }
  throw fault('docker_failed', { reason: 'Other servers kept taking the number of its IOL image: start it again' });
}

/** The number of its container; else that of its NVRAM if it is free; else the first free one, or after a collision any free one. */
async function chooseNumber(engine: DockerEngine, nodeId: string, { directory }: IolPlace, isAgain: boolean): Promise<number> {
  const containers = await numbered(engine);
  const own = containers.find((one) => one.nodeId === nodeId);
  if (own) return own.number;
  const taken = new Set(containers.map(({ number }) => number));
  const all = Array.from({ length: maxIolNumber }, (_, index) => index + 1);
  const free = all.filter((number) => !taken.has(number));
  const random = isAgain && free.length > 0 ? free[randomInt(free.length)] : undefined;
  const before = (await nvramNumbers(directory)).find((number) => !taken.has(number));
  const number = random ?? before ?? free[0];
  if (number === undefined)
    throw fault('docker_failed', { reason: `All ${maxIolNumber} numbers of IOL images are taken: delete some nodes` });
  return number;
}

async function numbered(engine: DockerEngine): Promise<{ nodeId: string | undefined; number: number }[]> {
  const filters = encodeURIComponent(JSON.stringify({ label: [iolLabel] }));
  const containers = await engine.get<{ Labels: Record<string, string> }[]>(`/containers/json?all=1&filters=${filters}`);
  return containers.map(({ Labels }) => ({ nodeId: Labels[nodeLabel], number: Number(Labels[iolLabel]) }));
}

async function nvramNumbers(directory: string): Promise<number[]> {
  const names = await readdir(directory).catch(() => []);
  const numbers = names.map((name) => Number(/^nvram_(\d{5})$/.exec(name)?.[1] ?? 0));
  return numbers.filter((number) => number >= 1 && number <= maxIolNumber);
}
