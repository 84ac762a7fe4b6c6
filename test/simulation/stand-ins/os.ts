/** Stands in for `node:os`: a host that does nothing else. */
import { simulation } from '../engine/simulation.ts';

export * from 'node:os';

export const uptime = () => (simulation().kernel.now - simulation().kernel.current.boot.at) / 1000;
export const freemem = () => 2 ** 33;
export const totalmem = () => 2 ** 34;
export const loadavg = () => [0, 0, 0];
export const hostname = () => 'controller';
export const cpus = () => [{ model: '', speed: 1, times: { user: 0, nice: 0, sys: 0, idle: 1, irq: 0 } }];
export const availableParallelism = () => 2;
