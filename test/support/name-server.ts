/** A resolver with one answer. Only root may bind the resolver's port. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

/** Listens on port 53 of `address`, and answers every question with the address `answered`. */
export async function openNameServer(address: string, answered: string): Promise<Socket> {
  const socket = createSocket('udp4').bind(53, address);
  await once(socket, 'listening').catch((error: Error) => {
    socket.close();
    throw error;
  });
  socket.on('message', (query, from) => {
    const question = query.subarray(12, query.indexOf(0, 12) + 5);
    const head = Buffer.concat([query.subarray(0, 2), Buffer.from('8180' + '0001' + '0001' + '0000' + '0000', 'hex')]);
    const answer = Buffer.from(
      `c00c00010001${'0000003c'}0004${answered
        .split('.')
        .map((part) => Number(part).toString(16).padStart(2, '0'))
        .join('')}`,
      'hex',
    );
    socket.send(Buffer.concat([head, question, answer]), from.port, from.address);
  });
  return socket;
}
