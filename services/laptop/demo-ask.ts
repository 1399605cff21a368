// How the demo asks a service: JSON in and out, and an error in words for every other answer.

export type Question = {
  /** Default: GET, and POST with a body. */
  readonly method?: string;
  /** Sent as JSON; text as it is. */
  readonly body?: string | object;
  readonly headers?: Readonly<Record<string, string>>;
  /** Statuses that are no fault. */
  readonly also?: readonly number[];
};

type Service = { readonly name: string; readonly url: string; readonly headers?: Readonly<Record<string, string>> };

export type Ask = ReturnType<typeof createAsk>;

/** @returns a function that throws an Error in words where the service does not answer, or answers with a fault */
export const createAsk =
  ({ name, url, headers: own = {} }: Service) =>
  async (path: string, { body, method = body === undefined ? 'GET' : 'POST', headers = {}, also = [] }: Question = {}) => {
    const isJson = typeof body === 'object';
    const response = await fetch(url + path, {
      method,
      headers: { ...(isJson && { 'Content-Type': 'application/json' }), ...own, ...headers },
      ...(body !== undefined && { body: isJson ? JSON.stringify(body) : body }),
    }).catch((cause: unknown) => {
      throw new Error(`Nothing answers at ${url}: start Signalbox first (npm start)`, { cause });
    });
    const text = await response.text();
    if (!response.ok && !also.includes(response.status)) throw new Error(`The ${name} answered ${response.status}: ${text}`);
    return { status: response.status, headers: response.headers, text, json: (): unknown => JSON.parse(text) };
  };
