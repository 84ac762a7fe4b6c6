/** Facts of the kind "vpcs": a small PC inside the fabric, good for pings. Sources of the constants: README.md beside this file. */
import { Name, nullable, oneOf, strict, TcpPort } from '../../schema/common.ts';
import { ComputeNodeId } from '../../schema/node.ts';
import { filled } from '../../schema/template.ts';
import { Type } from '../../schema/type.ts';
import { oneEthernetPort } from '../facts/port-naming.ts';
import { autoStart, telnetOrNone as consoleTypes, symbol, telnetOrNone, word } from '../facts/template-pieces.ts';
import type { Kind, TemplateFacts } from '../kind.ts';

/** A startup script is a file's content, not a name: this is its limit in characters. */
const maxScriptLength = 65_536;

const changeable = {
  console: Type.Optional(nullable(TcpPort)),
  console_type: Type.Optional(oneOf(consoleTypes)),
};

/** File in a node's folder with the number that gives its MAC address (`mac-id.ts`). */
export const macNoteName = 'mac-id.json';

/** The number in a command line of the program vpcs, or of a PC. */
export function macIdIn(commandLine: string): number | undefined {
  const number = /(?: -p \d+|^vpcs) -m (\d{1,8})(?: |$)/.exec(commandLine)?.[1];
  return number === undefined ? undefined : Number(number);
}

/** Notes the number of a command line as a preference: another node of its compute may have the number. */
function macNoteOf(commandLine: string): string | undefined {
  const mac_id = macIdIn(commandLine);
  return mac_id === undefined ? undefined : `${JSON.stringify({ node_id: '', mac_id })}\n`;
}

/** The file of the configs folder from which new nodes get their startup script. */
const baseScript = 'vpcs_base_config.txt';

const template: TemplateFacts = {
  default_name_format: 'PC{0}',
  symbol: symbol('vpcs_guest'),
  ownSymbol: {
    name: 'vpcs_guest',
    width: 65,
    height: 59,
    figure: 'screen',
    letters: 'PC',
    theme: { category: 'vpcs_guest', affinity: 'client' },
  },
  category: 'guest',
  properties: {
    ...autoStart,
    base_script_file: filled(Name({ description: 'In the configs folder' }), baseScript),
    console_type: word(telnetOrNone, 'telnet'),
  },
  builtIn: {
    template_id: '19021f99-e36f-394d-b4a1-8aaa902ab9cc',
    name: 'VPCS',
    settings: { properties: { base_script_file: baseScript } },
  },
};

export const vpcsKind: Kind = {
  type: 'vpcs',
  title: 'VPCS',
  template,
  create: Type.Object(
    {
      ...changeable,
      name: Name(),
      node_id: ComputeNodeId,
      startup_script: Type.Optional(
        nullable(Type.String({ maxLength: maxScriptLength, description: 'Commands run at each start; %h stands for the name' })),
      ),
    },
    strict,
  ),
  update: Type.Object({ ...changeable, name: Type.Optional(nullable(Name())) }, strict),
  folder: 'vpcs',
  lab: { startupFile: 'startup.vpc', generated: ['startup_script'] },
  carriedFile: { name: macNoteName, from: macNoteOf },
  can: {
    suspend: false,
    filter: true,
    mirror: true,
    resetConsole: true,
    reload: true,
    duplicate: true,
    startAnswersNode: true,
    addressesByPort: true,
  },
  alwaysRunning: false,
  inFabric: 'pc',
  hasFolder: () => true,
  consoleTypes,
  baseFiles: { [baseScript]: 'set pcname %h\n' },
  defaults: {
    console_type: 'telnet',
    port_name_format: 'Ethernet{0}',
    port_segment_size: 0,
  },
  ports: oneEthernetPort,
};
