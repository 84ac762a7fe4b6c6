/** A vpcs of the server, at its console: which addresses it reaches. */
import { ping } from './ping.ts';
import type { RawClient } from './raw-http.ts';
import { openTelnet, skipHistory, type TelnetClient } from './telnet.ts';
import { createNode, freshName, type NodeBody, type ProjectHandle } from './with-server.ts';

export class Pc {
  readonly node: NodeBody;
  readonly address: string;
  #telnet: TelnetClient | undefined;

  private constructor(node: NodeBody, address: string) {
    this.node = node;
    this.address = address;
  }

  /** Creates a PC and does not start it. The address is `10.0.0.number`. */
  static async make(client: RawClient, project: ProjectHandle, number: number, compute_id = 'local'): Promise<Pc> {
    const address = `10.0.0.${number}`;
    const properties = { startup_script: `ip ${address}/24\n` };
    return new Pc(await createNode(client, project, 'vpcs', { name: freshName('PC'), properties, compute_id }), address);
  }

  /** Whether one ping of three is answered. Takes some seconds if not. */
  async reaches({ address }: Pc): Promise<boolean> {
    const telnet = await this.#console();
    return ping({ send: (text) => telnet.send(text), output: () => String(telnet.received()) }, address, 3);
  }

  close(): void {
    this.#telnet?.close();
  }

  async #console(): Promise<TelnetClient> {
    if (!this.#telnet || this.#telnet.socket.destroyed) {
      this.#telnet = await openTelnet(this.node.console as number);
      await skipHistory(this.#telnet);
      await this.#telnet.expect(/> $/);
    }
    return this.#telnet;
  }
}
