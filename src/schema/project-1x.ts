/** Keys of project files of GNS3 1.x (revision 4 and before), and what becomes of them. Source: GNS3's format's history. */
import { changed, missing, needless, taken } from './foreign-map.ts';

export const fileKeys = {
  name: taken('`name`'),
  project_id: taken('`project_id`; made of the content where there is none'),
  auto_start: taken('`auto_start`'),
  version: taken('`version`'),
  topology: taken('nodes, links and drawings'),
  revision: needless('revision of the format'),
  type: needless(''),
  resources_type: needless('where GNS3 1.x ran'),
};

export const topologyKeys = {
  nodes: taken('nodes'),
  links: changed('links; one to a port that does not exist is missing'),
  servers: changed('computes'),
  ellipses: changed('drawings'),
  rectangles: changed('drawings'),
  notes: changed('drawings'),
  images: changed('drawings'),
};

export const serverKeys = {
  id: taken('compute of the nodes'),
  host: taken('`host`'),
  port: taken('`port`'),
  protocol: taken('`protocol`'),
  local: taken('the compute `local`'),
  vm: taken('the compute `vm`'),
  cloud: needless('a service that has ended'),
  ram_limit: missing('most memory of its machines'),
  user: missing('user of the compute: set it, with the password'),
};

export const nodeKeys = {
  id: taken('ends of links'),
  type: taken('`node_type`'),
  vm_id: taken('`node_id`; made of the content where there is none'),
  server_id: taken('`compute_id`'),
  label: taken('`label` and `name`'),
  ports: taken('ends of links, ports of switches, hubs and clouds'),
  properties: changed('`properties`, `name` and `console`; a property that the kind does not know is missing'),
  symbol: taken('`symbol`'),
  default_symbol: taken('`symbol` where there is none'),
  hover_symbol: needless('looks'),
  x: taken('`x`'),
  y: taken('`y`'),
  z: taken('`z`'),
  port_name_format: taken('`port_name_format`'),
  port_segment_size: taken('`port_segment_size`'),
  first_port_name: taken('`first_port_name`'),
  linked_clone: taken('`linked_clone` of VMware and VirtualBox'),
  dynamips_id: taken('files of a router'),
  description: needless('name of its kind'),
};

/** Keys of `properties` that are no properties of the kind. */
export const propertyKeys = {
  name: taken('`name`'),
  console: taken('`console`'),
  console_type: taken('`console_type`'),
  console_host: needless('of the compute'),
  use_ubridge: needless('how GNS3 1.x carried frames'),
};

export const labelKeys = {
  text: taken('`text`'),
  x: taken('`x`'),
  y: taken('`y`'),
  font: taken('`style`'),
  color: taken('`style`'),
  rotation: taken('`rotation`'),
  z: needless('layer of the label'),
};

export const portKeys = {
  id: taken('ends of links'),
  name: taken('interface or tunnel of a cloud'),
  adapter_number: taken('adapter of a link end'),
  slot_number: taken('adapter of a link end, in the first versions'),
  port_number: taken('port of a link end'),
  type: taken('type of a port of a switch'),
  vlan: taken('VLAN of a port of a switch'),
  link_id: needless('the link names its ports'),
  nio: needless('connection of the time'),
  description: needless('other end of the link'),
  default: needless(''),
  hotpluggable: needless(''),
  capturing: needless('a capture ends with its link'),
};

export const linkKeys = {
  source_node_id: taken('first end'),
  source_port_id: taken('port of the first end'),
  destination_node_id: taken('second end'),
  destination_port_id: taken('port of the second end'),
  id: needless(''),
  description: needless('names of its ends'),
  source_port_label: missing('place of the label'),
  destination_port_label: missing('place of the label'),
};

export const drawingKeys = {
  x: taken('`x`'),
  y: taken('`y`'),
  z: taken('`z`'),
  rotation: taken('`rotation`'),
  width: taken('`svg`'),
  height: taken('`svg`'),
  color: taken('`svg`'),
  border_color: taken('`svg`'),
  border_width: taken('`svg`'),
  border_style: taken('`svg`'),
  text: taken('`svg`'),
  font: taken('`svg`'),
  path: changed('the picture, where it is inside the project'),
};
