/** Measures the API of GNS3 3.x with accounts, beside the times that a GNS3 3.0.6 took for the same calls when its answers were recorded. */
import { Client } from 'undici';
import { type Call, latencies, median, type Row, request } from './measure.ts';
import { startPatchbay } from './server.ts';

const boss = { username: 'boss', password: 'of the configuration' };
const config = `[Server]\nauth = True\nuser = ${boss.username}\npassword = ${boss.password}\n`;
const times = 40;
const against = 'GNS3 3.0.6, recorded on another machine';

/** Milliseconds of 3.0.6: medians of its recorded calls (5 to 23 of each; login: 9). */
const recorded = { login: 371.3, project: 6.9, node: 16, link: 34.3, projects: 12.6, nodes: 9.5 };

export async function benchV3(say: (text: string) => void): Promise<Row[]> {
  const server = await startPatchbay(config);
  const client = new Client(server.url);
  try {
    const login: Call = { method: 'POST', path: '/v3/access/users/authenticate', body: boss };
    say(`${times} of each call`);
    const first = await latencies(client, () => login, 1);
    const logins = await latencies(client, () => login, times);
    const { access_token } = (await request(client, login)) as { access_token: string };
    const headers = { authorization: `Bearer ${access_token}` };
    const call = (method: Call['method'], path: string, body?: unknown): Call => ({ method, path, body, headers });
    const projects: string[] = [];
    const created = await latencies(
      client,
      (turn) => call('POST', '/v3/projects', { name: `p${turn}` }),
      times,
      async (answer) => void projects.push((answer as { project_id: string }).project_id),
    );
    const path = `/v3/projects/${projects[0]}`;
    const nodes: string[] = [];
    const made = await latencies(
      client,
      (turn) => call('POST', `${path}/nodes`, { name: `PC${turn}`, node_type: 'vpcs', compute_id: 'local' }),
      times,
      async (answer) => void nodes.push((answer as { node_id: string }).node_id),
    );
    const end = (place: number) => ({ node_id: nodes[place], adapter_number: 0, port_number: 0 });
    const linked = await latencies(
      client,
      (turn) => call('POST', `${path}/links`, { nodes: [end(2 * turn), end(2 * turn + 1)] }),
      times / 2,
    );
    const row = (what: string, ours: readonly number[], baseline: number): Row => ({
      what: `${what}, ms`,
      ours: median(ours),
      baseline,
      against,
    });
    return [
      row('first login of a user', first, recorded.login),
      row('login', logins, recorded.login),
      row('create project', created, recorded.project),
      row('create node (VPCS)', made, recorded.node),
      row('create link', linked, recorded.link),
      row(`list of ${times} projects`, await latencies(client, () => call('GET', '/v3/projects'), times), recorded.projects),
      row(`list of ${times} nodes`, await latencies(client, () => call('GET', `${path}/nodes`), times), recorded.nodes),
    ];
  } finally {
    await client.close();
    await server.stop();
  }
}
