// Requests to the API server, which is found and authenticated as kubectl does it; each has a time limit.
import { Agent as HttpAgent, type IncomingMessage, type OutgoingHttpHeaders, request as requestHttp } from 'node:http';
import { Agent, request as requestHttps, type RequestOptions } from 'node:https';
import { text as readText } from 'node:stream/consumers';
import { z } from 'zod';

/** The part of a KubeConfig that is needed: its library takes 55 MB where it is loaded. */
export type Access = {
  getCurrentCluster(): { readonly server: string } | null;
  /** Adds credentials and trust to a request. */
  applyToHTTPSOptions(options: RequestOptions): Promise<void>;
};

export type Call = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly accept?: string;
  readonly contentType?: string;
  readonly body?: object;
};

/** The API server refused the request, or did not answer. */
export class ClusterError extends Error {
  /** Undefined when there was no answer. */
  readonly status: number | undefined;

  constructor(message: string, status?: number, cause?: unknown) {
    super(message, { cause });
    this.status = status;
  }
}

export type Transport = ReturnType<typeof createTransport>;

const Status = z.object({ message: z.string() });

/** @param stopping aborts calls under way, and every later one */
export function createTransport(config: Access, stopping: AbortSignal, { answerMs = 10_000 }: { readonly answerMs?: number } = {}) {
  const server = new URL(config.getCurrentCluster()?.server ?? 'http://localhost:8080');
  const isPlain = server.protocol === 'http:';
  const send = isPlain ? requestHttp : requestHttps;
  // The library makes an agent for each request.
  const agent = isPlain ? new HttpAgent({ keepAlive: true }) : new Agent({ keepAlive: true });
  stopping.addEventListener('abort', () => agent.destroy(), { once: true });

  async function open({ method, path, query = {}, accept = 'application/json', contentType, body }: Call, signal: AbortSignal): Promise<IncomingMessage> {
    const url = new URL(server.pathname.replace(/\/$/, '') + path, server);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
    const given: OutgoingHttpHeaders = {};
    const options: RequestOptions = { headers: given };
    await config.applyToHTTPSOptions(options);
    const text = body && JSON.stringify(body);
    // Node sends the body of a DELETE without its length otherwise.
    const length = text === undefined ? {} : { 'content-length': Buffer.byteLength(text) };
    const headers = { ...given, ...length, accept, 'user-agent': 'signalbox', ...(contentType !== undefined && { 'content-type': contentType }) };
    return new Promise((resolve, reject) => {
      const request = send(url, { ...options, method, headers, agent, signal: AbortSignal.any([signal, stopping]) });
      request.on('error', reject).on('response', resolve);
      request.end(text);
    });
  }

  const unanswered = (error: unknown): never => {
    const why =
      error instanceof Error && error.name === 'TimeoutError' ? `no answer within ${answerMs} ms` : String(error instanceof Error ? error.message : error);
    throw new ClusterError(`the API server does not answer: ${why}`, undefined, error);
  };

  return {
    /** @throws ClusterError for any other answer than success */
    async json(call: Call): Promise<unknown> {
      const signal = AbortSignal.timeout(answerMs);
      const { status, body } = await open(call, signal)
        .then(async (answer) => ({ status: answer.statusCode ?? 0, body: await readText(answer) }))
        .catch((error: unknown) => unanswered(signal.aborted ? signal.reason : error));
      if (status >= 200 && status < 300) return parse(body);
      throw new ClusterError(Status.safeParse(parse(body, {})).data?.message ?? `the API server answers ${status}`, status);
    },
    /** An answer without end, such as a watch. @param signal ends it */
    async stream(call: Call, signal: AbortSignal): Promise<IncomingMessage> {
      const begun = new AbortController();
      const late = setTimeout(() => begun.abort(), answerMs);
      const answer = await open(call, AbortSignal.any([signal, begun.signal]))
        .catch(unanswered)
        .finally(() => clearTimeout(late));
      if (answer.statusCode === 200) return answer;
      answer.destroy();
      throw new ClusterError(`the API server answers ${answer.statusCode}`, answer.statusCode);
    },
  };
}

function parse(body: string, otherwise?: unknown): unknown {
  try {
    return JSON.parse(body);
  } catch (cause) {
    if (otherwise !== undefined) return otherwise;
    throw new ClusterError('the answer of the API server is not JSON', undefined, cause);
  }
}
