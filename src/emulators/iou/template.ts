/** Templates of IOU nodes. Source: the established v2 API. */
import { Name } from '../../schema/common.ts';
import { filled, textOf } from '../../schema/template.ts';
import { autoStart, empty, flag, symbol, telnetOrNone, usage, whole, word } from '../facts/template-pieces.ts';
import type { TemplateFacts } from '../kind.ts';

export const iouTemplate: TemplateFacts = {
  default_name_format: 'IOU{0}',
  symbol: symbol('multilayer_switch'),
  category: 'router',
  properties: {
    ...usage,
    ...autoStart,
    console_type: word(telnetOrNone, 'telnet'),
    ethernet_adapters: whole(2, 'Adapters with four Ethernet ports'),
    l1_keepalives: flag(false),
    nvram: whole(256, 'KiB'),
    path: Name(),
    private_config: empty('A file in the configs folder'),
    ram: whole(1024, 'MiB'),
    serial_adapters: whole(2, 'Adapters with four serial ports'),
    startup_config: filled(textOf('A file in the configs folder'), 'iou_l3_base_startup-config.txt'),
    use_default_iou_values: flag(false),
  },
};
