/** Runs inside of the image: two PCs with a link, and a ping between them by the first one's console. Prints what was found, as JSON. */
import { connect } from 'node:net';

const origin = 'http://127.0.0.1:3080';

async function ask(method, path, body) {
  const reply = await fetch(`${origin}/v2${path}`, { method, ...(body && { body: JSON.stringify(body) }) });
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
  return reply.status === 204 ? undefined : reply.json();
}

/** Types until the console shows what is expected: a PC that starts loses keys. */
function converse(port, text, expected) {
  return new Promise((resolve, reject) => {
    let shown = '';
    const console = connect(port, '127.0.0.1').on('error', reject);
    const timer = setInterval(() => console.write(`${text}\r`), 4_000);
    console.setEncoding('latin1').on('data', (more) => {
      shown += more;
      if (!expected.test(shown)) return;
      clearInterval(timer);
      console.destroy();
      resolve(true);
    });
  });
}

const project = `/projects/${(await ask('POST', '/projects', { name: 'in the image' })).project_id}`;
const pcs = [];
for (const number of [1, 2]) {
  const properties = { startup_script: `ip 10.0.0.${number}/24\n` };
  pcs.push(await ask('POST', `${project}/nodes`, { name: `PC${number}`, node_type: 'vpcs', compute_id: 'local', properties }));
}
const ends = pcs.map(({ node_id }) => ({ node_id, adapter_number: 0, port_number: 0 }));
await ask('POST', `${project}/links`, { nodes: ends });
await ask('POST', `${project}/nodes/start`);
const ping = await converse(pcs[0].console, 'ping 10.0.0.2 -c 2', /icmp_seq=\d+ ttl=/);
const { headers } = await fetch(`${origin}/v2/version`);
const [server] = headers.get('server').split(' ');
console.log(JSON.stringify({ server, page: (await fetch(`${origin}/`)).status, ping }));
