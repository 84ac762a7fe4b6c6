/** Properties of routers that together have everything the schema of routers has. */
import { type RouterPlatformName, routerHardware, routerModules, wicModules } from '../../../src/schema/router-hardware.ts';

/** Routers, as few as have every platform, chassis, module and WIC of the schema. */
export function everyRouter(): Record<string, unknown>[] {
  return (Object.keys(routerHardware) as RouterPlatformName[]).flatMap((platform) =>
    Object.entries(routerHardware[platform].chassis).flatMap(([chassis, { slots, boards, wics }]) => {
      const free = Array.from({ length: slots }, (_, slot) => slot).filter((slot) => boards[slot] === undefined);
      const fitting = Object.keys(routerModules).filter((name) =>
        platform === 'c7200' ? /^(PA|C7200)-/.test(name) : platform !== 'c1700' && name.startsWith('NM-'),
      );
      const isBoard = (name: string) => name.startsWith('C7200');
      const places = free.flatMap((slot) => (platform === 'c7200' && slot === 0 ? [] : [slot]));
      const cards = fitting.filter((name) => !isBoard(name));
      const io = fitting.filter(isBoard);
      const count = Math.max(1, io.length, places.length > 0 ? Math.ceil(cards.length / places.length) : 0);
      return Array.from({ length: count }, (_, round) => ({
        platform,
        ...(chassis && { chassis }),
        ...(io.length > 0 && { slot0: io[round % io.length] }),
        ...Object.fromEntries(
          places.map((slot, index) => [`slot${slot}`, cards[(round * places.length + index) % cards.length] ?? '']),
        ),
        ...Object.fromEntries(Array.from({ length: wics }, (_, bay) => [`wic${bay}`, Object.keys(wicModules)[(bay + round) % 3]])),
      }));
    }),
  );
}
