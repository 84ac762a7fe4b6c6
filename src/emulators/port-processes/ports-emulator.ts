/** The emulator of a node that is nothing but its ports. It has no console and no end of its own. */
import type { Emulator, Ending, Properties } from '../driver.ts';
import type { PortProcesses } from './port-processes.ts';

export function portsEmulator<Facts>(ports: PortProcesses<Facts>, changed: (properties: Properties) => void = () => {}): Emulator {
  const { promise: ended, resolve } = Promise.withResolvers<Ending>();
  return {
    get record() {
      return { ports: ports.kept() };
    },
    commandLine: '',
    ended,
    state: 'started',
    onState: () => {},
    onRecord: (listener) => ports.onChange(listener),
    suspend: async () => {},
    resume: async () => {},
    reset: async () => false,
    async stop() {
      await ports.detachAll();
      resolve({ how: 'stopped', reason: 'it was stopped' });
    },
    port: (adapter, port) => (adapter === 0 ? ports.spec(port) : undefined),
    openPort: (_adapter, port) => ports.attach(port),
    closePort: (_adapter, port) => ports.detach(port),
    setCarrier: async () => {},
    console: () => undefined,
    changed: async (properties) => changed(properties),
    release: () => ports.release(),
  };
}
