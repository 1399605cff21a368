// An HTTP proxy that cuts its caller off after a chosen request has taken effect: the moment at which a crash hurts most.
import { createServer, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { freePort } from './wait.ts';

export type Passed = { readonly method: string; readonly url: string; readonly body: string };

export type StopProxy = {
  readonly url: string;
  /** Requests that were passed on, without bodies of watches. */
  readonly passed: readonly Passed[];
  /** The first request that is meant gets no answer; from then on nothing is passed on until `resume`. */
  stopAfter(isMeant: (passed: Passed) => boolean): Promise<Passed>;
  resume(): void;
  close(): Promise<void>;
};

export async function createStopProxy(upstream: string): Promise<StopProxy> {
  const passed: Passed[] = [];
  let isStopped = false;
  let stopping: { readonly isMeant: (passed: Passed) => boolean; readonly resolve: (passed: Passed) => void } | undefined;
  const server = createServer((call, answer) => {
    void (async () => {
      const { method = 'GET', url = '/' } = call;
      const body = await text(call);
      if (isStopped) return void answer.destroy();
      const noted = { method, url, body };
      passed.push(noted);
      const meant = stopping?.isMeant(noted) === true ? stopping : undefined;
      const headers = { ...call.headers };
      delete headers.host;
      const sent = request(new URL(url, upstream), { method, headers, agent: false }, (got) => {
        if (!meant) {
          answer.writeHead(got.statusCode ?? 502, got.headers);
          answer.flushHeaders();
          return void got.on('error', () => answer.destroy()).pipe(answer);
        }
        got.resume().on('end', () => {
          isStopped = true;
          stopping = undefined;
          server.closeAllConnections();
          meant.resolve(noted);
        });
      });
      sent.on('error', () => answer.destroy());
      answer.on('close', () => sent.destroy());
      sent.end(body);
    })().catch(() => answer.destroy());
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${port}`,
    passed,
    stopAfter: (isMeant) => new Promise((resolve) => (stopping = { isMeant, resolve })),
    resume: () => void (isStopped = false),
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
