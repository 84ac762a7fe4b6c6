/** The baseline of the API's figures: a bare Fastify that answers each path of a JSON file with the stored bytes. */
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import fastify from 'fastify';

const answers = JSON.parse(await readFile(process.argv[2] ?? '', 'utf8')) as {
  method: 'GET' | 'POST' | 'PUT';
  path: string;
  status: number;
  text: string;
}[];
const app = fastify({ logger: false });
for (const { method, path, status, text } of answers) {
  const bytes = Buffer.from(text);
  app.route({
    method,
    url: path,
    handler: (_request, reply) => reply.code(status).header('Content-Type', 'application/json').send(bytes),
  });
}
await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`listening on http://127.0.0.1:${(app.server.address() as AddressInfo).port}\n`);
