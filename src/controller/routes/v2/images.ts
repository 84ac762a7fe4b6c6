import { basename } from 'node:path';
import { PassThrough } from 'node:stream';
import { fault, isFault } from '../../../api/faults.ts';
import { type Route, route, Stream } from '../../../api/route.ts';
import { ImageDownload } from '../../../schema/image-download.ts';
import { ImageUses } from '../../../schema/image-use.ts';
import { type NodeType, nodeTypes } from '../../../schema/node.ts';
import { Type } from '../../../schema/type.ts';
import type { StartedDownload } from '../../computes/image-downloads.ts';
import type { Controller } from '../../controller.ts';
import { imageFolderOf } from '../../model/node-images.ts';
import { imageUses, requireUnused } from '../../projects/image-uses.ts';

export function imageRoutes(controller: Controller): Route[] {
  const { computes, projects, templates } = controller;
  const usesOn = (computeId: string) => imageUses({ templates, projects: projects.all() }, computes.get(computeId).id);
  return [
    route(
      'GET /v2/computes/{compute_id}/image_uses',
      {
        right: 'administrator',
        summary: 'Templates and nodes that are made of images of a compute',
        reply: ImageUses,
        own: true,
      },
      ({ path }) => usesOn(path.compute_id),
    ),
    route(
      'DELETE /v2/computes/{compute_id}/{emulator}/images/{filename:.+}',
      { right: 'Image.Allocate /images', summary: 'Delete an image that no template and no node uses', status: 204, own: true },
      async ({ path: { compute_id, emulator, filename } }) => {
        const { transport } = computes.get(compute_id);
        const type = imageType(emulator);
        if (filename.split('/').some((part) => ['', '.', '..'].includes(part)))
          throw fault('path_forbidden', { path: filename, reason: 'it leaves the image folder' });
        requireUnused(await usesOn(compute_id), type, basename(filename));
        await transport.raw('DELETE', `/v2/compute/${type}/images/${filename}`);
      },
    ),
    ...downloadRoutes(controller),
  ];
}

function downloadRoutes({ computes, imageDownloads, log }: Controller): Route[] {
  return [
    route(
      'GET /v2/image_hosts',
      {
        right: 'Image.Audit /images',
        summary: 'Hosts from which images may be downloaded to this server',
        reply: Type.Array(Type.String()),
        own: true,
      },
      () => imageDownloads.hosts(),
    ),
    route(
      'POST /v2/computes/{compute_id}/image_downloads',
      {
        right: 'Image.Allocate /images',
        summary: 'Download an image from a URL to a compute; one JSON document a line while it does, and the result at last',
        body: ImageDownload,
        replyType: 'application/x-ndjson',
        fillsDisk: true,
        own: true,
      },
      async (call) => {
        const { client, signal, body } = call;
        const compute = computes.get(call.path.compute_id);
        const wanted = { ...body, node_type: imageType(body.node_type), compute };
        const download = await imageDownloads.begin(wanted, { signal, ...(client !== undefined && { client }) });
        const out = new PassThrough();
        void report(download, body.filename, out).catch((error: unknown) =>
          log.error({ err: error }, 'an image was not downloaded'),
        );
        return new Stream('application/x-ndjson', out);
      },
    ),
  ];
}

const progressMs = 500;

/** @throws what is no fault */
async function report(download: StartedDownload, filename: string, out: PassThrough): Promise<void> {
  const { totalBytes: total_bytes } = download;
  const write = (line: object) => out.write(`${JSON.stringify(line)}\n`);
  let written = 0;
  let done_bytes = 0;
  write({ done_bytes, total_bytes });
  const timer = setInterval(() => {
    if (done_bytes === written || out.writableNeedDrain) return;
    written = done_bytes;
    write({ done_bytes, total_bytes });
  }, progressMs);
  try {
    const filesize = await download.finish((done) => {
      done_bytes = done;
    });
    write({ filename, filesize });
  } catch (error) {
    const isKnown = isFault(error);
    write({ failure: isKnown ? error.message : 'the image was not downloaded: see the log of the server' });
    if (!isKnown) throw error;
  } finally {
    clearInterval(timer);
    out.end();
  }
}

/** @throws `compute_route_missing` for a kind without images */
function imageType(emulator: string): NodeType {
  const type = nodeTypes.find((one) => one === emulator);
  if (!type || imageFolderOf(type) === undefined) throw fault('compute_route_missing', { request: `/${emulator}/images` });
  return type;
}
