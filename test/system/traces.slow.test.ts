// One delivery as an OTLP receiver sees it: over HTTP, the broker and the worker's statement, in one trace.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { expect } from 'chai';
import { describeWith, type Need } from '../support/need.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { rabbitmq, sharedRabbitmq } from '../support/rabbitmq.ts';
import { eventually } from '../support/wait.ts';
import { createForge, examplePayload, type Flow, startFlow } from './flow.ts';

type Attribute = { readonly key: string; readonly value: { readonly stringValue?: string } };
type Span = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly Attribute[];
};
type Received = Span & { readonly service: string };
type Export = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
};

const attribute = (attributes: readonly Attribute[], key: string) => attributes.find((one) => one.key === key)?.value.stringValue ?? '';

/** OTLP over HTTP as JSON: `POST /v1/traces`. */
async function startReceiver(): Promise<{ readonly url: string; readonly spans: readonly Received[]; readonly server: Server }> {
  const spans: Received[] = [];
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      for (const { resource, scopeSpans } of (body as Export).resourceSpans)
        for (const span of scopeSpans.flatMap((scope) => scope.spans)) spans.push({ ...span, service: attribute(resource.attributes, 'service.name') });
      response.writeHead(request.url === '/v1/traces' ? 200 : 404, { 'Content-Type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans, server };
}

/** A span, its parent, and so on as far as they have come. */
function ancestry(span: Received, spans: readonly Received[]): Received[] {
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
  return parent ? [span, ...ancestry(parent, spans)] : [span];
}

const embedded: Need = { name: 'embedded broker', missing: undefined };
const brokers: readonly (readonly [need: Need, urlOf: (databaseUrl: string) => Promise<string>])[] = [
  [embedded, (databaseUrl) => Promise.resolve(databaseUrl)],
  [rabbitmq, async () => (await (await sharedRabbitmq()).createVhost()).url],
];

for (const [need, brokerUrl] of brokers) {
  describeWith(need, `the trace of a delivery over the ${need.name}`, () => {
    let database: TestDatabase;
    let receiver: Awaited<ReturnType<typeof startReceiver>>;
    let flow: Flow;

    before(async () => {
      [database, receiver] = await Promise.all([createTestDatabase(), startReceiver()]);
      const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/`, OTEL_BSP_SCHEDULE_DELAY: '100' };
      flow = await startFlow({ databaseUrl: database.url, brokerUrls: [await brokerUrl(database.url)], settings });
      await flow.startWorker('service');
    });
    after(async () => {
      await flow.close();
      receiver.server.close();
      await database.drop();
    });

    it('goes from the request of the relay to the statement of the worker', async () => {
      const forge = createForge(flow.relayUrls);
      expect((await forge.deliver(examplePayload(1))).status).to.equal(202);
      forge.close();
      const statement = await eventually(
        () => receiver.spans.find(({ service, name }) => service === 'worker-service' && name.startsWith('pg.query:')) ?? false,
      );
      const way = await eventually(() => {
        const spans = ancestry(statement, receiver.spans);
        return spans.at(-1)?.parentSpanId ? false : spans.map(({ service, name }) => `${service} ${name}`).toReversed();
      });
      expect(way[0]).to.match(/^webhook-relay POST/);
      expect(way).to.include('worker-service forge batch');
      if (need === rabbitmq) expect(way).to.include('webhook-relay publish forge-exchange');
    });
  });
}
