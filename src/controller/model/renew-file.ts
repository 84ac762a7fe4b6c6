/** The text of a project file under a new identity, made in a thread when it is large. */
import { fault } from '../../api/faults.ts';
import { isDeeper } from '../../lib/json-depth.ts';
import { type NewIdentity, withNewIdentity } from './fresh-ids.ts';
import { smallBytes } from './read-topology.ts';
import { mostLevels } from './topology-file.ts';
import { readInThread } from './topology-reader.ts';

const name = 'project.gns3';

/** Ids that it gives are added to those of `identity`. @throws `project_damaged`, SyntaxError */
export async function renewProjectFile(bytes: Buffer, identity: NewIdentity): Promise<Buffer> {
  if (bytes.length <= smallBytes) {
    if (isDeeper(bytes, mostLevels)) throw fault('project_damaged', { name, reason: 'it is nested too deep' });
    const renewed = withNewIdentity(JSON.parse(bytes.toString('utf8')) as Record<string, unknown>, identity);
    return Buffer.from(JSON.stringify(renewed, null, 4));
  }
  const { ids, ...rest } = identity;
  const want = { ...rest, ids: [...ids.entries()] };
  for await (const piece of readInThread({ source: bytes, maxBytes: bytes.length, name, want })) {
    if (piece.what !== 'renewed') continue;
    ids.add(piece.ids);
    return Buffer.from(piece.bytes);
  }
  throw fault('project_damaged', { name, reason: 'it could not be read' });
}
