/** Settings that clients store on the server. Source: the GNS3 2.2 v2 API. */
import { LongText, named, nullable, oneOf, strict, TcpPort, Text } from './common.ts';
import { type Static, Type } from './type.ts';

export const IouLicense = Type.Object(
  { iourc_content: Type.String({ description: 'Content of an iourc file' }), license_check: Type.Boolean() },
  named('IouLicense'),
);
export type IouLicense = Readonly<Static<typeof IouLicense>>;
export const IouLicenseUpdate = Type.Object(
  { iourc_content: Type.Optional(LongText()), license_check: Type.Optional(Type.Boolean()) },
  strict,
);
export const iouLicenseDefaults: IouLicense = Object.freeze({ iourc_content: '', license_check: true });

/** Programs that could run the GNS3 VM. */
export const vmEngines = ['vmware', 'virtualbox', 'remote'] as const;

export const VmSettings = Type.Object(
  {
    allocate_vcpus_ram: Type.Boolean(),
    enable: Type.Boolean(),
    engine: oneOf(vmEngines),
    headless: Type.Boolean(),
    port: TcpPort,
    ram: Type.Integer({ minimum: 1, description: 'MiB' }),
    vcpus: Type.Integer({ minimum: 1 }),
    vmname: nullable(Text()),
    when_exit: oneOf(['stop', 'suspend', 'keep']),
  },
  named('VmSettings'),
);
export type VmSettings = Readonly<Static<typeof VmSettings>>;
const { allocate_vcpus_ram, enable, engine, headless, port, ram, vcpus, vmname, when_exit } = VmSettings.properties;
export const VmSettingsUpdate = Type.Object(
  {
    allocate_vcpus_ram: Type.Optional(allocate_vcpus_ram),
    enable: Type.Optional(enable),
    engine: Type.Optional(engine),
    headless: Type.Optional(headless),
    port: Type.Optional(port),
    ram: Type.Optional(ram),
    vcpus: Type.Optional(vcpus),
    vmname: Type.Optional(vmname),
    when_exit: Type.Optional(when_exit),
  },
  strict,
);
export const vmDefaults: VmSettings = Object.freeze({
  allocate_vcpus_ram: true,
  enable: false,
  engine: 'vmware',
  headless: false,
  port: 80,
  ram: 2048,
  vcpus: 1,
  vmname: null,
  when_exit: 'stop',
});
