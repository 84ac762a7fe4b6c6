/** Makes the lab of pair.yaml, measures the round trip without and with an impairment, and captures it. */
import { readFile, writeFile } from 'node:fs/promises';
import { Patchbay } from 'patchbay-client';

const url = process.env.PATCHBAY_URL ?? 'http://127.0.0.1:3080';
const server = await Patchbay.connect({ url, user: process.env.PATCHBAY_USER, password: process.env.PATCHBAY_PASSWORD });
const lab = await readFile(new URL('pair.yaml', import.meta.url), 'utf8');
const project = await server.apply({ lab });
await project.start();

const link = await project.link('PC1', 'PC2');
const console1 = await (await project.node('PC1')).console();
const pcap = await link.capture(async () => {
  for (const delay of [0, 50]) {
    await link.impair({ delay: [delay, 0] });
    console1.sendLine('ping 10.0.0.2 -c 1');
    const { match } = await console1.expect(/time=[\d.]+ ms/, { timeout: 20_000 });
    console.log(`${delay} ms each way: ${match[0]}`);
  }
});
await writeFile(new URL('round-trip.pcap', import.meta.url), pcap);
console.log(`round-trip.pcap: ${pcap.length} bytes`);
console1.close();
await project.destroy();
