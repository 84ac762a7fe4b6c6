/** Every route of the program, read from its source: a route that is added is tried here without anybody thinking of it. */
import { glob, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Kind } from '../../src/emulators/kind.ts';
import { implementedTypes, kinds } from '../../src/emulators/kinds.ts';

export interface RouteLine {
  readonly method: string;
  /** Brace form, without the regular expressions of parameters. */
  readonly template: string;
}

const source = resolve(import.meta.dirname, '../../src');
/** The key of a declaration; calls of routes, from the controller to a compute, look otherwise. */
const key = /(?:[rR]oute\(\s*|const key = )(['"`])(GET|POST|PUT|DELETE) ((?:\/v2|\$\{place\})[^'"`]*?)\1/g;
const place = /const place =\s*`([^`]+)`/;

export async function allRoutes(): Promise<RouteLine[]> {
  const found = new Map<string, RouteLine>();
  for await (const file of glob(`${source}/{controller,compute,emulators}/**/*.ts`)) {
    if (file.endsWith('.test.ts')) continue;
    const text = await readFile(file, 'utf8');
    const prefix = place.exec(text)?.[1] ?? '';
    for (const [, , method = '', path = ''] of text.matchAll(key)) {
      const whole = path.replace(/\$\{place\}/, prefix).replace(/\{(\w+):[^}]*\}/g, '{$1}');
      for (const type of whole.includes('$') ? implementedTypes : ([''] as const)) {
        const template = whole.replace(/\$\{[^}]*\}/, type);
        if (type !== '' && !has(kinds[type], template)) continue;
        if (template.startsWith('/v2/')) found.set(`${method} ${template}`, { method, template });
      }
    }
  }
  return [...found.values()].sort((a, b) => (`${a.template} ${a.method}` < `${b.template} ${b.method}` ? -1 : 1));
}

/** Whether nodes of this kind have a route that is written once for all kinds. */
function has(kind: Kind | undefined, template: string): boolean {
  if (!kind) return false;
  if (template.endsWith('/resume')) return kind.can.suspend;
  if (template.endsWith('/reload')) return kind.can.reload;
  if (template.endsWith('/duplicate')) return kind.can.duplicate;
  if (template.endsWith('/port_stats')) return kind.inFabric === true;
  if (template.endsWith('/console/reset')) return kind.can.resetConsole;
  if (template.endsWith('/console/ws')) return kind.can.resetConsole && kind.consoleTypes.includes('telnet');
  return kind.images !== undefined || !template.includes('/images');
}
