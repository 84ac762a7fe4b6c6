/** The HTTP API as checks use it. */
import type { LabApi } from '../../state/lab-api.ts';
import type { ConsoleWire } from '../console/console-connection.ts';

export interface CheckApi extends LabApi {
  /** The console of a node. */
  console(projectPath: string, nodeId: string): Promise<ConsoleWire>;
  /** The auxiliary console of a node: of a container, a shell in it. */
  auxiliary(projectPath: string, nodeId: string): Promise<ConsoleWire>;
  /** An answer as it comes, to its end or the abort of the signal. */
  stream(path: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
}
