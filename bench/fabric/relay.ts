/** The baseline: joins Unix stream sockets in pairs and only copies, with the fabric's priority. `relay.ts PATH PATH …`. */
import { connect } from 'node:net';
import { raisePriority } from '../../src/fabric/control/priority.ts';

raisePriority();
const sockets = process.argv.slice(2).map((path) => connect(path));
for (let at = 0; at < sockets.length; at += 2) {
  const [one, other] = sockets.slice(at, at + 2);
  if (!one || !other) throw new Error('paths come in pairs');
  one.pipe(other);
  other.pipe(one);
}
