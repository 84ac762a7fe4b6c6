/** Attributes of EVE-NG's labs and what an import makes of them. Source: files that EVE-NG's users publish and its documents. */
import { changed, missing, needless, taken } from '../../src/schema/foreign-map.ts';

export const labKeys = {
  name: taken('name of the lab'),
  id: needless(''),
  version: needless('version of the lab'),
  scripttimeout: needless('of EVE-NG'),
  countdown: needless('of EVE-NG'),
  lock: missing(''),
  author: missing(''),
  sharedlab: needless('of EVE-NG'),
  isMirror: needless('of EVE-NG'),
};

/** Modules of a router. */
export const slotKeys = ['slot0', 'slot1', 'slot2', 'slot3', 'slot4', 'slot5', 'slot6'] as const;
const slots = Object.fromEntries(
  slotKeys.map((key) => [key, taken('the module, of a Dynamips router whose platform has a place for it')]),
) as Record<(typeof slotKeys)[number], ReturnType<typeof taken>>;

export const nodeKeys = {
  id: taken('names of links'),
  name: taken('name'),
  type: changed('`qemu`, `docker`, `vpcs`, `iou` for `iol`, `dynamips`; others are machines'),
  template: changed('`image` where there is none; the platform of a Dynamips router'),
  image: changed('`image`, with `.qcow2` behind it for machines'),
  left: taken('`x`; percents are of 1200 pixels'),
  top: taken('`y`; percents are of 800 pixels'),
  cpu: taken('`cpus` of a machine'),
  ram: taken('`memory`, MiB'),
  ethernet: taken('`adapters`; Ethernet bays of IOL'),
  serial: taken('serial bays of IOL'),
  nvram: taken('`nvram` of routers, KiB'),
  idlepc: taken('`idlepc` of Dynamips'),
  firstmac: taken('`mac_address` of a machine'),
  config: taken('whether the saved configuration is used: 1'),
  ...slots,
  icon: needless('looks'),
  uuid: needless('of EVE-NG'),
  console: taken('`console_type`, for `telnet` and `vnc`'),
  delay: missing('order of starts'),
  cpulimit: missing(''),
  qemu_options: missing('options of QEMU: `properties: {options: …}`'),
  qemu_version: needless('the QEMU of this server'),
  qemu_arch: taken('`platform`'),
  qemu_nic: taken('`adapter_type`'),
  username: missing(''),
  password: missing(''),
  size: needless('looks'),
  sat: needless('of EVE-NG'),
  e0dhcp: missing(''),
  map_port: missing(''),
  config_script: missing(''),
  script_timeout: needless('of EVE-NG'),
};

export const interfaceKeys = {
  id: taken('adapter and port: of IOL and Dynamips unit × 16 + slot where the name does not say them'),
  name: taken('adapter and port of IOL and Dynamips'),
  type: taken('serial bays of IOL'),
  network_id: taken('the network that it is on'),
  remote_id: taken('node at the other end of a serial link'),
  remote_if: taken('interface at the other end of a serial link'),
  suspend: missing('suspension'),
  style: needless('looks'),
  color: needless('looks'),
  label: needless('looks'),
  linkstyle: needless('looks'),
  labelpos: needless('looks'),
  dstpos: needless('looks'),
  srcpos: needless('looks'),
  width: needless('looks'),
  stub: needless('looks'),
  curviness: needless('looks'),
  beziercurviness: needless('looks'),
  round: needless('looks'),
  midpoint: needless('looks'),
};

export const networkKeys = {
  id: needless('names of links'),
  type: changed('a link of two nodes, a switch of more, with a NAT node behind it for `pnet` and `nat`'),
  name: taken('name of the switch'),
  left: taken('`x`; percents are of 1200 pixels'),
  top: taken('`y`; percents are of 800 pixels'),
  visibility: needless('looks'),
  icon: needless('looks'),
  smart: needless('looks'),
  style: needless('looks'),
  linkstyle: needless('looks'),
  color: needless('looks'),
  label: needless('looks'),
};
