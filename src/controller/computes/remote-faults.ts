/** What the answer of a compute elsewhere means here, when it is not a success. */
import { type Fault, fault } from '../../api/faults.ts';

export interface Refusal {
  /** Of the compute. */
  readonly name: string;
  readonly request: string;
  readonly status: number;
  /** Body of the answer. */
  readonly text: string;
}

export function faultOfAnswer({ name, request, status, text }: Refusal): Fault {
  const { message, exception, image } = understood(text);
  if (status === 400) return fault('compute_bad_request', { request, message: text });
  if (status === 401) return fault('compute_unauthorized', { name });
  if (status === 403) return fault('compute_forbidden', { message });
  if (status === 404) return fault('compute_route_missing', { request });
  if (status === 408 || status === 504) return fault('compute_timeout', { name, request });
  if (status === 409 && exception === 'ImageMissingError' && image !== undefined)
    return fault('image_missing', { image }, { extra: { image } });
  if (status === 409) return fault('compute_error', { message });
  if (status === 503) return fault('compute_busy', { name, request, message });
  return fault('compute_failed', { name, request, message });
}

function understood(text: string): { message: string; exception?: unknown; image?: string } {
  try {
    const { message, exception, image } = JSON.parse(text) as Record<string, unknown>;
    return { message: typeof message === 'string' ? message : text, exception, ...(typeof image === 'string' && { image }) };
  } catch {
    return { message: text };
  }
}
