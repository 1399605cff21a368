// A request to a service of the tests, and its whole answer.

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  /** The body, unchanged. */
  readonly text: string;
  /** Undefined when it is not JSON. */
  readonly body: any; // eslint-disable-line @typescript-eslint/no-explicit-any -- what an answer is, is what a test asserts
};

export type Call = { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> };

/** Sends a request without credentials, unless `headers` has one. Text and bytes are sent as they are, anything else as JSON. */
export async function call(url: string, method: string, path: string, { body, headers = {} }: Call = {}): Promise<Answer> {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const json = body === undefined ? {} : { 'Content-Type': 'application/json' };
  const response = await fetch(url + path, {
    method,
    headers: { ...json, ...headers },
    ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = text !== '' && response.headers.get('content-type')?.includes('json') === true;
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
}
