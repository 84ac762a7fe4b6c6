import { fault } from '../../../api/faults.ts';
import { type Route, route } from '../../../api/route.ts';
import { IouLicense, IouLicenseUpdate, VmSettings, VmSettingsUpdate, vmEngines } from '../../../schema/kept-settings.ts';
import { Type } from '../../../schema/type.ts';
import type { Controller } from '../../controller.ts';

/** The lists are always empty. */
const Nothing = Type.Object({});

export function keptSettingsRoutes({ kept }: Controller): Route[] {
  return [
    route(
      'GET /v2/iou_license',
      { right: 'administrator', summary: 'The license that IOU nodes are given', reply: IouLicense },
      () => kept.iouLicense,
    ),
    route(
      'PUT /v2/iou_license',
      {
        right: 'administrator',
        summary: 'Change the license; what is not given stays',
        reply: IouLicense,
        body: IouLicenseUpdate,
        status: 201,
      },
      ({ body }) => kept.setIouLicense(body),
    ),
    route(
      'GET /v2/gns3vm',
      {
        right: 'administrator',
        summary: 'Settings of a virtual machine for nodes, which this server does not run',
        reply: VmSettings,
      },
      () => kept.vm,
    ),
    route(
      'PUT /v2/gns3vm',
      {
        right: 'administrator',
        summary: 'Change them; what is not given stays. It cannot be enabled',
        reply: VmSettings,
        body: VmSettingsUpdate,
        status: 201,
      },
      ({ body }) => kept.setVm(body),
    ),
    route(
      'GET /v2/gns3vm/engines',
      { right: 'administrator', summary: 'What could run that machine: nothing here', reply: Type.Array(Nothing) },
      () => [],
    ),
    route(
      'GET /v2/gns3vm/engines/{engine}/vms',
      { right: 'administrator', summary: 'Its virtual machines: none', reply: Type.Array(Nothing) },
      ({ path: { engine } }) => {
        if (!vmEngines.some((known) => known === engine)) throw fault('vm_engine_missing', { engine });
        return [];
      },
    ),
  ];
}
