/** A minimal HTTP client for the demo: JSON to and from a Patchbay server. */

export class Api {
  readonly url: string;
  readonly #authorization: string | undefined;

  constructor(url: string, authorization?: string) {
    this.url = url;
    this.#authorization = authorization;
  }

  get<T>(path: string): Promise<T> {
    return this.#request('GET', path);
  }

  post<T>(path: string, body: object = {}): Promise<T> {
    return this.#request('POST', path, body);
  }

  put<T>(path: string, body: object): Promise<T> {
    return this.#request('PUT', path, body);
  }

  async #request<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(`${this.url}/v2${path}`, {
      method,
      signal: AbortSignal.timeout(60_000),
      ...(body !== undefined && { body: JSON.stringify(body) }),
      headers: {
        'content-type': 'application/json',
        ...(this.#authorization !== undefined && { authorization: this.#authorization }),
      },
    });
    const text = await response.text();
    const answer: unknown = text === '' ? undefined : JSON.parse(text);
    if (!response.ok) {
      const reason = (answer as { message?: string } | undefined)?.message ?? response.statusText;
      throw new Error(`${method} /v2${path} failed with ${response.status}: ${reason}`);
    }
    return answer as T;
  }
}
