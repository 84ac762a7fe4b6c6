/**
 * UDP ports for the ends of links. A compute releases a port when the NIO that uses it goes; a port that was taken for a NIO that
 * never came to be is kept here and used for the next one, as there is no request to give it back.
 */
import type { RegisteredCompute } from '../../computes/compute.ts';
import type { UdpPorts } from '../../log/records.ts';
import type { Two } from './link.ts';

export class UdpPortsOfProject {
  readonly #projectId: string;
  readonly #spare = new Map<string, number[]>();

  constructor(projectId: string) {
    this.#projectId = projectId;
  }

  /** Reserves a port for each end, always different ones: with equal ports on one machine, frames would loop. */
  async takePair([one, other]: Two<RegisteredCompute>): Promise<UdpPorts> {
    const [ofOne, ofOther] = await Promise.allSettled([this.take(one), this.take(other)]);
    if (ofOne.status === 'fulfilled' && ofOther.status === 'fulfilled') {
      if (ofOne.value !== ofOther.value) return [ofOne.value, ofOther.value];
      const different = await this.take(other);
      this.keep(other, ofOther.value);
      return [ofOne.value, different];
    }
    if (ofOne.status === 'fulfilled') this.keep(one, ofOne.value);
    if (ofOther.status === 'fulfilled') this.keep(other, ofOther.value);
    throw [ofOne, ofOther].find((result) => result.status === 'rejected')?.reason;
  }

  keep(compute: RegisteredCompute, port: number): void {
    const spare = this.#spare.get(compute.id) ?? [];
    this.#spare.set(compute.id, [...spare, port]);
  }

  /** Its server was started again: it has given these to others since. */
  forget({ id }: RegisteredCompute): void {
    this.#spare.delete(id);
  }

  async take(compute: RegisteredCompute): Promise<number> {
    const spare = this.#spare.get(compute.id)?.pop();
    if (spare !== undefined) return spare;
    const path = { project_id: this.#projectId };
    return (await compute.transport.call('POST /v2/compute/projects/{project_id}/ports/udp', { path })).udp_port;
  }
}
