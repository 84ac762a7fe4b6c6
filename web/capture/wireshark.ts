/** The URL with which GNS3's helper programs stream a capture into Wireshark. Source: `gns3+pcap` links of GNS3's web client. */
export function wiresharkAddress(
  origin: URL,
  link: { readonly project_id: string; readonly link_id: string },
  name: string,
): string {
  const port = origin.port || (origin.protocol === 'https:' ? '443' : '80');
  const query = new URLSearchParams({
    protocol: origin.protocol.slice(0, -1),
    project_id: link.project_id,
    link_id: link.link_id,
    name,
  });
  return `gns3+pcap://${origin.hostname}:${port}?${query}`;
}
