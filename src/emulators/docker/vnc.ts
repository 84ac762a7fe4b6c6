/** Screens of containers. */
import { fault } from '../../api/faults.ts';

/** Not offered yet, so that nobody waits for a screen that never comes. @throws docker_failed */
export function requireVncServer(): Promise<void> {
  const reason = 'Screens of containers are not offered by this compute yet: choose the console type telnet, http, https or none';
  return Promise.reject(fault('docker_failed', { reason }));
}
