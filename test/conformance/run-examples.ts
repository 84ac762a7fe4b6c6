/** Sends the documented examples one after the other, and checks status and fields of each answer. */
import assert from 'node:assert/strict';
import type { withServer } from '../support/with-server.ts';
import type { Example } from './documented-rows.ts';

type Client = Awaited<ReturnType<typeof withServer>>['client'];

export class ExampleRunner {
  /** Values of earlier answers, by the names that the rows give them. */
  readonly saved = new Map<string, string>();
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  async run({ call, body, raw, status, fields = '', save }: Example): Promise<void> {
    const request = this.#fill(call);
    const filled = () => JSON.parse(this.#fill(JSON.stringify(body)).replaceAll(/"#(\d+)"/g, '$1'));
    const content = raw !== undefined ? { raw } : body === undefined ? {} : { body: filled() };
    const answer = await this.#client.send(request, { ...content, limitMs: 60_000 });
    assert.equal(answer.status, status, `${request}: ${answer.text()}`);
    assert.ok(answer.headers['x-route'] !== undefined, `${request} has no X-Route`);
    const parsed: unknown = fields || save ? answer.json() : undefined;
    const first = (Array.isArray(parsed) ? parsed[0] : parsed) as Record<string, unknown> | undefined;
    for (const field of fields.split(' ').filter(Boolean))
      assert.ok(first && Object.hasOwn(first, field), `${request} answers without ${field}: ${answer.text()}`);
    for (const [name, field] of Object.entries(save ?? {})) this.saved.set(name, String(first?.[field]));
  }

  #fill(text: string): string {
    return text.replace(/<(\w+)>/g, (_, name: string) => this.saved.get(name) ?? assert.fail(`no ${name} yet`));
  }
}
