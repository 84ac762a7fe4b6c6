/**
 * Reads appliances of registry version 8, which keep the settings of emulators in a list. The page, plans of labs and the server read
 * them through this file. Source: the description of the format in GNS3's public registry.
 */

type ApplianceFields = Readonly<Record<string, unknown>>;

/** Settings of one emulator. A version of the appliance names them, else those are used that are marked as default. */
export interface ApplianceSettings {
  readonly name?: string;
  readonly default?: boolean;
  /** Whether the default settings of the same emulator count where these say nothing (default true). */
  readonly inherit_default_properties?: boolean;
  readonly template_type: string;
  readonly template_properties: ApplianceFields;
}

const isObject = (value: unknown): value is ApplianceFields => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the settings of an appliance. Files come from anywhere: entries of another form are left out. */
export function settingsOfAppliance(appliance: object): readonly ApplianceSettings[] {
  const { settings } = appliance as ApplianceFields;
  return Array.isArray(settings) ? settings.filter(isSettings) : [];
}

function isSettings(value: unknown): value is ApplianceSettings {
  return isObject(value) && typeof value.template_type === 'string' && isObject(value.template_properties);
}

/** Returns the MD5 checksum of an image file: `md5sum` up to version 6, `checksum` in version 8. */
export function md5OfImage(image: { readonly md5sum?: unknown; readonly checksum?: unknown; readonly checksum_type?: unknown }) {
  const { md5sum, checksum, checksum_type = 'md5' } = image;
  const sum = md5sum ?? (checksum_type === 'md5' ? checksum : undefined);
  return typeof sum === 'string' && sum !== '' ? sum.toLowerCase() : undefined;
}

/** Returns the settings that a version names, else the default ones, else the only ones. */
export function settingsOfVersion(all: readonly ApplianceSettings[], name: unknown): ApplianceSettings | undefined {
  return all.find((one) => one.name !== undefined && one.name === name) ?? all.find((one) => one.default === true) ?? all[0];
}

/** Returns the properties of a template: those of the settings over those of the default settings of the same emulator. */
export function templateProperties(all: readonly ApplianceSettings[], chosen: ApplianceSettings): ApplianceFields {
  const inherits = chosen.default !== true && chosen.inherit_default_properties !== false;
  const base = inherits ? all.find((one) => one.default === true && one.template_type === chosen.template_type) : undefined;
  return { ...base?.template_properties, ...chosen.template_properties };
}
