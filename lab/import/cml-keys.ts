/** Keys of labs of CML and what an import makes of them. Source: the schema of its topology files, versions 0.0.1 to 0.3.0. */
import { changed, missing, needless, taken } from '../../src/schema/foreign-map.ts';

export const fileKeys = {
  lab: taken('name of the lab'),
  nodes: taken('nodes'),
  links: taken('links'),
  annotations: changed('texts are drawings; other shapes are missing'),
  smart_annotations: missing('areas around nodes with a tag'),
};

export const labKeys = {
  title: taken('name of the lab'),
  lab_title: taken('name of the lab'),
  version: needless('version of the format'),
  description: missing(''),
  notes: missing(''),
  timestamp: needless(''),
  node_staging: missing('order of starts'),
};

export const nodeKeys = {
  id: taken('names of links'),
  label: taken('name'),
  node_definition: changed(
    'a machine, a switch (`unmanaged_switch`), an IOL (`iol-xe`, `ioll2-xe`) or a NAT node (`external_connector`)',
  ),
  image_definition: changed('`image`, with `.qcow2` behind it'),
  ram: taken('`memory`, MiB'),
  cpus: taken('`cpus`'),
  x: taken('`x`'),
  y: taken('`y`'),
  interfaces: taken('`adapters`; loopbacks have no port'),
  configuration: changed('files on the config disk; of an IOL `config`'),
  tags: missing(''),
  boot_disk_size: missing('the disk is as its image'),
  data_volume: missing('a second disk'),
  cpu_limit: missing(''),
  hide_links: needless('looks'),
  parameters: missing(''),
  pyats: missing('credentials for tests'),
  priority: missing('order of starts'),
  compute_id: needless('host of the lab'),
  pinned_compute_id: missing('host of the lab'),
};

export const interfaceKeys = {
  id: taken('ends of links'),
  type: taken('loopbacks have no port'),
  slot: taken('number of the adapter'),
  label: needless('name of the interface in its system'),
  node: needless('the node around it'),
  mac_address: taken('`mac_address` of the adapter'),
};

export const configurationKeys = { name: taken('name of the file'), content: taken('its text') };

export const linkKeys = {
  id: needless(''),
  label: needless('names of its ends'),
  n1: taken('first end'),
  n2: taken('second end'),
  i1: taken('port of the first end'),
  i2: taken('port of the second end'),
  conditioning: taken('filters'),
};

export const conditioningKeys = {
  enabled: taken('false: no filters'),
  latency: taken('`delay`, ms'),
  jitter: taken('jitter of `delay`, ms'),
  loss: taken('`packet_loss`, %'),
  bandwidth: taken('`bandwidth`, kbit/s'),
  duplicate: taken('`duplicate`, %'),
  corrupt_prob: taken('`corrupt`, %'),
  delay_corr: missing('correlations'),
  loss_corr: missing('correlations'),
  duplicate_corr: missing('correlations'),
  corrupt_corr: missing('correlations'),
  reorder_prob: missing(''),
  reorder_corr: missing('correlations'),
  gap: missing(''),
  limit: missing(''),
};

export const annotationKeys = {
  type: taken('texts only'),
  text_content: taken('`text` of a drawing'),
  x1: taken('`x`'),
  y1: taken('`y`'),
  id: needless(''),
  x2: needless('looks'),
  y2: needless('looks'),
  border_color: needless('looks'),
  border_style: needless('looks'),
  border_radius: needless('looks'),
  color: needless('looks'),
  thickness: needless('looks'),
  z_index: needless('looks'),
  rotation: needless('looks'),
  text_bold: needless('looks'),
  text_font: needless('looks'),
  text_italic: needless('looks'),
  text_size: needless('looks'),
  text_unit: needless('looks'),
  line_start: needless('looks'),
  line_end: needless('looks'),
};
