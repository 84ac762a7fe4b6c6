/** The PCs that run inside the fabric of a server: those that have not ended. */
import { join } from 'node:path';
import { Connection } from '../../src/fabric/connection/connection.ts';

/** Empty where no fabric runs. */
export async function pcsOfFabric({ runtimeDirectory }: { readonly runtimeDirectory: string }): Promise<string[]> {
  const connection = await Connection.open(join(runtimeDirectory, 'fabric.sock'));
  try {
    const reports = (await connection?.request({ op: 'watch_pcs' }, 10_000)) ?? [];
    return reports.filter(({ end }) => end === undefined).map(({ id }) => id);
  } finally {
    connection?.close();
  }
}
