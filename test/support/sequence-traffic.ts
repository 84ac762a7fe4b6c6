/**
 * Numbered datagrams at a steady rate, run in the namespaces of two ends. `send ADDRESS PORT PER_SECOND`: until its input ends, then
 * prints how many. `receive PORT`: until its input ends, then prints how many came, came twice, and came after a later one.
 */
import { createSocket } from 'node:dgram';

const burstEveryMs = 5;
/** A sender that was kept from running catches up slowly: a TAP interface queues 500 frames. */
const mostAtOnce = 200;
const payloadBytes = 64;

const [verb, ...args] = process.argv.slice(2);
if (verb === 'send') await send(args);
else await receive(args);

async function send([address = '', port = '', perSecond = '']: string[]): Promise<void> {
  const socket = createSocket('udp4');
  const started = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    const due = Math.min(Math.floor(((performance.now() - started) * Number(perSecond)) / 1000), sent + mostAtOnce);
    for (; sent < due; sent += 1) {
      const payload = Buffer.alloc(payloadBytes);
      payload.writeUInt32BE(sent);
      socket.send(payload, Number(port), address);
    }
  }, burstEveryMs);
  await inputEnds();
  clearInterval(timer);
  socket.close(() => process.stdout.write(JSON.stringify({ sent })));
}

async function receive([port = '']: string[]): Promise<void> {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 1 << 22 });
  const seen = new Set<number>();
  let [twice, late, last] = [0, 0, -1];
  socket.on('message', (payload) => {
    const number = payload.readUInt32BE();
    if (seen.has(number)) twice += 1;
    else if (number < last) late += 1;
    seen.add(number);
    last = Math.max(last, number);
  });
  socket.bind(Number(port), () => process.stdout.write('ready\n'));
  await inputEnds();
  socket.close();
  process.stdout.write(JSON.stringify({ received: seen.size, twice, late }));
}

function inputEnds(): Promise<void> {
  return new Promise((settle) => process.stdin.on('end', settle).resume());
}
