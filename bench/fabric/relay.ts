/** The baseline: joins two Unix stream sockets and only copies. `relay.ts PATH PATH`. */
import { connect } from 'node:net';

const [one, other] = process.argv.slice(2).map((path) => connect(path));
if (!one || !other) throw new Error('two paths are needed');
one.pipe(other);
other.pipe(one);
