/**
 * UDP ports for the ends of links. A compute releases a port when the NIO that uses it goes; a port that was taken for a NIO that
 * never came to be is kept here and used for the next one, as there is no request to give it back.
 */
import type { Compute } from './compute.ts';

export class UdpPortsOfProject {
  readonly #projectId: string;
  readonly #spare = new Map<string, number[]>();

  constructor(projectId: string) {
    this.#projectId = projectId;
  }

  async take(compute: Compute): Promise<number> {
    const spare = this.#spare.get(compute.id)?.pop();
    if (spare !== undefined) return spare;
    const path = { project_id: this.#projectId };
    const { body } = await compute.transport.call<{ udp_port: number }>('POST /v2/compute/projects/{project_id}/ports/udp', {
      path,
    });
    return body.udp_port;
  }

  keep(compute: Compute, port: number): void {
    const spare = this.#spare.get(compute.id) ?? [];
    this.#spare.set(compute.id, [...spare, port]);
  }
}
