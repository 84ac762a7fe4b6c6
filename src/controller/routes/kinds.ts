import { type Route, route } from '../../api/route.ts';
import type { Kind } from '../../emulators/kind.ts';
import { kinds } from '../../emulators/kinds.ts';
import { KindFacts } from '../../schema/kind.ts';
import { Type } from '../../schema/type.ts';

export function kindRoutes(): Route[] {
  const facts = Object.freeze(Object.values(kinds).flatMap((kind) => (kind ? [factsOf(kind)] : [])));
  return [route('GET /v2/kinds', { summary: 'What each type of node can', reply: Type.Array(KindFacts), own: true }, () => facts)];
}

function factsOf({ type, title, alwaysRunning, consoleTypes, defaults, images, can }: Kind): KindFacts {
  return {
    node_type: type,
    title,
    always_running: alwaysRunning,
    console_type: consoleTypes.length === 0 ? null : defaults.console_type,
    console_types: [...consoleTypes],
    images: images !== undefined,
    can: {
      suspend: can.suspend,
      reload: can.reload,
      duplicate: can.duplicate,
      filter: can.filter,
      reset_console: can.resetConsole,
      resize_disk: can.resizeDisk === true,
    },
  };
}
