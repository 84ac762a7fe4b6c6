/** The baseline: joins two Unix stream sockets and only copies, with the fabric's priority. `relay.ts PATH PATH`. */
import { connect } from 'node:net';
import { raisePriority } from '../../src/fabric/priority.ts';

raisePriority();
const [one, other] = process.argv.slice(2).map((path) => connect(path));
if (!one || !other) throw new Error('two paths are needed');
one.pipe(other);
other.pipe(one);
