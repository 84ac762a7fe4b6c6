/** Defaults of each router platform. Source: the GNS3 2.2 v2 API. */
import type { RouterPlatformName } from '../../schema/router-hardware.ts';

export interface RouterPlatform {
  /** KiB. */
  readonly nvram: number;
  /** MiB of the first PCMCIA disk. */
  readonly disk0: number;
  /** Percent of the RAM that interfaces get; undefined where it cannot be set. */
  readonly iomem?: number;
  readonly sparsemem: boolean;
  readonly clock_divisor: number;
  /** Power supplies, sensors, engines: of c7200 only. */
  readonly engines?: true;
}

export const platforms: Readonly<Record<RouterPlatformName, RouterPlatform>> = {
  c1700: { nvram: 32, disk0: 0, iomem: 15, sparsemem: false, clock_divisor: 8 },
  c2600: { nvram: 128, disk0: 0, iomem: 15, sparsemem: false, clock_divisor: 8 },
  c2691: { nvram: 112, disk0: 16, iomem: 5, sparsemem: true, clock_divisor: 8 },
  c3600: { nvram: 128, disk0: 0, iomem: 5, sparsemem: true, clock_divisor: 4 },
  c3725: { nvram: 112, disk0: 16, iomem: 5, sparsemem: true, clock_divisor: 8 },
  c3745: { nvram: 304, disk0: 16, iomem: 5, sparsemem: true, clock_divisor: 8 },
  c7200: { nvram: 128, disk0: 64, sparsemem: true, clock_divisor: 4, engines: true },
};
