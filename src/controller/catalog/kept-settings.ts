/** Settings that clients keep on the server, on disk before they are acknowledged. A change is merged into the stored settings. */
import { join } from 'node:path';
import { fault } from '../../api/faults.ts';
import { DurableMap } from '../../lib/durable-map.ts';
import type { Warn } from '../../lib/set-aside.ts';
import {
  type IouLicense,
  type IouLicenseUpdate,
  iouLicenseDefaults,
  type VmSettings,
  type VmSettingsUpdate,
  vmDefaults,
} from '../../schema/kept-settings.ts';
import type { Static } from '../../schema/type.ts';
import { storageFailed } from '../log/project-log.ts';
import { canonical } from '../model/canonical.ts';

export class KeptSettings {
  readonly #map: DurableMap<object>;

  private constructor(map: DurableMap<object>) {
    this.#map = map;
  }

  static async open(stateDirectory: string, warn: Warn): Promise<KeptSettings> {
    return new KeptSettings(await DurableMap.open<object>(join(stateDirectory, 'kept-settings.log'), warn));
  }

  get iouLicense(): IouLicense {
    return canonical({ ...iouLicenseDefaults, ...this.#map.get('iou_license') });
  }

  setIouLicense(given: Static<typeof IouLicenseUpdate>): Promise<IouLicense> {
    return this.#keep('iou_license', { ...this.iouLicense, ...given });
  }

  get vm(): VmSettings {
    return canonical({ ...vmDefaults, ...this.#map.get('vm') });
  }

  /** @throws `vm_engine_missing` when it is to be used: no engine is present here */
  async setVm(given: Static<typeof VmSettingsUpdate>): Promise<VmSettings> {
    const wanted = { ...this.vm, ...given } as VmSettings;
    if (wanted.enable) throw fault('vm_engine_missing', { engine: wanted.engine });
    return this.#keep('vm', wanted);
  }

  close(): Promise<void> {
    return this.#map.close();
  }

  async #keep<T extends object>(key: string, value: T): Promise<T> {
    const kept = canonical(value);
    try {
      await this.#map.set(key, kept);
    } catch (error) {
      throw storageFailed(error);
    }
    return kept;
  }
}
