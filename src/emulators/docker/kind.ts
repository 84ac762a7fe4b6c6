/** Facts of the kind "docker": a container of an image. Sources of the constants: README.md beside this file. */
import { LongText, Mac, Name, nullable, oneOf, strict, TcpPort, Text, Uuid } from '../../schema/common.ts';
import { CustomAdapters } from '../../schema/node.ts';
import { filled } from '../../schema/template.ts';
import { Type } from '../../schema/type.ts';
import { mostAdapters } from '../facts/port-naming.ts';
import { autoStart, customAdapters, empty, macAddress, symbol, usage, whole, word } from '../facts/template-pieces.ts';
import type { Kind, ProgramFacts, TemplateFacts } from '../kind.ts';
import { iolPort, iolWord } from './iol-environment.ts';
import { asDocker, defaults, macOf } from './properties.ts';

const consoleTypes = ['telnet', 'vnc', 'http', 'https', 'none'] as const;

const fields = {
  adapters: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: 99, description: 'Network adapters' }))),
  aux: Type.Optional(nullable(TcpPort)),
  console: Type.Optional(nullable(TcpPort)),
  console_http_path: Type.Optional(Text()),
  console_http_port: Type.Optional(TcpPort),
  console_resolution: Type.Optional(Type.String({ pattern: '^[0-9]{1,5}x[0-9]{1,5}$' })),
  console_type: Type.Optional(oneOf(consoleTypes)),
  container_id: Type.Optional(nullable(Text({ description: 'Ignored' }))),
  custom_adapters: Type.Optional(CustomAdapters),
  environment: Type.Optional(nullable(LongText({ description: 'One KEY=VALUE a line; IOL_PID=auto for an IOL image' }))),
  extra_hosts: Type.Optional(nullable(LongText({ description: 'One host:address a line' }))),
  extra_volumes: Type.Optional(Type.Array(Name({ description: 'A folder of the container that is kept' }), { maxItems: 100 })),
  kernel_path: Type.Optional(
    Type.Boolean({
      description:
        'False: its links always go through the fabric, also where the kernel could carry them; for images with a data plane of their own, ' +
        'which must not see frames before their segments are cut. At the next start. Shown when it is false',
    }),
  ),
  mac_address: Type.Optional(nullable(Type.Union([Mac, Type.Literal('')]))),
  start_command: Type.Optional(nullable(Text({ description: 'In place of what the image says' }))),
  usage: Type.Optional(LongText()),
};

const programs: readonly ProgramFacts[] = [
  {
    name: 'dockerd',
    package: 'docker.io',
    for: 'Docker nodes',
    versionArgs: ['--version'],
    version: /version ([^\s,]+)/,
    isEmulator: true,
    optional: true,
  },
  {
    name: 'busybox',
    package: 'busybox-static',
    for: 'what prepares Docker nodes (a static one)',
    versionArgs: [],
    version: /BusyBox v(\S+)/,
    optional: true,
  },
  {
    name: 'Xtigervnc',
    package: 'tigervnc-standalone-server',
    for: 'screens of Docker nodes (console type vnc)',
    versionArgs: ['-version'],
    version: /TigerVNC (\S+)/,
    optional: true,
  },
];

const template: TemplateFacts = {
  default_name_format: '{name}-{0}',
  symbol: symbol('docker_guest'),
  ownSymbol: {
    name: 'docker_guest',
    width: 65,
    height: 59,
    figure: 'screen',
    letters: 'C',
    theme: { category: 'docker_guest', affinity: 'docker' },
    ofGuests: true,
  },
  category: 'guest',
  properties: {
    ...usage,
    ...macAddress,
    ...autoStart,
    ...customAdapters,
    adapters: whole(1, 'Network adapters', 0, 99),
    console_http_path: filled(Name(), '/'),
    console_http_port: filled(TcpPort, 80),
    console_resolution: filled(Type.String({ pattern: '^[0-9]{1,5}x[0-9]{1,5}$' }), '1024x768'),
    console_type: word(['telnet', 'vnc', 'http', 'https', 'none'], 'telnet'),
    environment: empty('One KEY=VALUE a line; IOL_PID=auto for an IOL image'),
    extra_hosts: empty('One host:address a line'),
    extra_volumes: filled(Type.Array(Text()), []),
    image: Name(),
    start_command: empty('In place of what the image says'),
  },
};

export const dockerKind: Kind = {
  type: 'docker',
  title: 'Docker',
  template,
  create: Type.Object({ ...fields, image: Name(), name: Name(), node_id: Type.Optional(Uuid) }, strict),
  update: Type.Object(
    {
      ...fields,
      image: Type.Optional(Name({ description: 'Ignored: it stays what it was made of' })),
      name: Type.Optional(Name()),
      node_id: Type.Optional(Uuid),
    },
    strict,
  ),
  folder: 'docker',
  nodeDefaults: { ...defaults },
  lab: {
    image: 'image',
    files: ['etc/network/interfaces', 'startup-config.cfg'],
    fixed: ['image'],
    generated: ['aux', 'container_id'],
  },
  can: {
    suspend: true,
    refuseSuspend: true,
    filter: true,
    mirror: true,
    resetConsole: true,
    reload: true,
    duplicate: true,
    startAnswersNode: false,
    addressesByPort: false,
  },
  alwaysRunning: false,
  needsVmCompute: true,
  consoleTypes,
  engineImages: true,
  // Images of containers are names in a registry, not files.
  imageProperties: [],
  programs,
  defaults: {
    console_type: 'telnet',
    port_name_format: 'Ethernet{0}',
    port_segment_size: 0,
  },
  ports(properties, { custom_adapters }) {
    const docker = asDocker(properties);
    const isIol = iolWord(docker.environment) !== undefined;
    return Array.from({ length: Math.min(docker.adapters ?? 1, mostAdapters) }, (_, adapter) => {
      const custom = custom_adapters.find(({ adapter_number }) => adapter_number === adapter)?.port_name;
      const name = custom ?? (isIol ? `Ethernet${iolPort(adapter)}` : `eth${adapter}`);
      const short = custom ?? (isIol ? `e${iolPort(adapter)}` : name);
      const mac = macOf({ ...docker, custom_adapters }, adapter);
      return {
        adapter_number: adapter,
        port_number: 0,
        name,
        short_name: short,
        link_type: 'ethernet' as const,
        data_link_types: { Ethernet: 'DLT_EN10MB' },
        ...(mac !== undefined && { mac_address: mac }),
      };
    });
  },
};
