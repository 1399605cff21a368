// A receiver of events of Signalbox' own: a real server that verifies signatures, and refuses, hangs or drops as a test says.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { buffer as bodyOf } from 'node:stream/consumers';
import type { Secret } from '../../../services/platform/config/secret.ts';
import { createStandardVerifier } from '../../../services/platform/http/standard-webhooks.ts';
import { memberAt } from '../../../services/platform/json.ts';

export type ReceivedEvent = { readonly id: string; readonly headers: IncomingHttpHeaders; readonly body: string; readonly content: unknown };

export type EventReceiver = Awaited<ReturnType<typeof createEventReceiver>>;

export async function createEventReceiver(secrets: readonly Secret[]) {
  const verify = createStandardVerifier(secrets);
  const received: ReceivedEvent[] = [];
  const state = {
    /** The events that were answered 204, in their order. */
    accepted: [] as ReceivedEvent[],
    /** All, in their order. */
    received,
    /** Answers in place of 204. */
    answer: (_: ReceivedEvent, response: ServerResponse): void => void response.writeHead(204).end(),
    url: '',
    close: () => {
      server.close();
      server.closeAllConnections();
    },
    /** The number in each accepted event. */
    numbers: () => state.accepted.map(({ content }) => memberAt(content, 'data', 'number')),
  };
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      if (verify(body, request.headers) !== 'valid') return response.writeHead(401).end();
      const event = {
        id: String(request.headers['webhook-id']),
        headers: request.headers,
        body: body.toString(),
        content: JSON.parse(body.toString()) as unknown,
      };
      received.push(event);
      response.on('finish', () => response.statusCode === 204 && state.accepted.push(event));
      return state.answer(event, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  state.url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/signalbox`;
  return state;
}
