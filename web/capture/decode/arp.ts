/** RFC 826, for Ethernet and IPv4. */
import type { Decoder } from './decoding.ts';

export const decodeArp: Decoder = (view, at, out) => {
  const operation = view.u16(at + 6);
  const [senderMac, sender] = [view.mac(at + 8), view.ipv4(at + 14)];
  const [targetMac, target] = [view.mac(at + 18), view.ipv4(at + 24)];
  const isRequest = operation === 1;
  const asked = sender === target ? `Announces ${sender}` : `Who has ${target}? Tell ${sender}`;
  out.add(
    {
      name: 'ARP',
      at,
      length: 28,
      fields: [
        ['Operation', isRequest ? 'request' : operation === 2 ? 'reply' : String(operation)],
        ['Sender', `${sender} (${senderMac})`],
        ['Target', `${target} (${targetMac})`],
      ],
    },
    { info: isRequest ? asked : `${sender} is at ${senderMac}` },
  );
  out.hosts.push(sender, target);
};
