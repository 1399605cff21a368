// OpenTelemetry traces, sent by OTLP over HTTP. Loaded only when an endpoint is set, and before anything that it instruments.
import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { AmqplibInstrumentation } from '@opentelemetry/instrumentation-amqplib';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { KoaInstrumentation, KoaLayerType } from '@opentelemetry/instrumentation-koa';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { register } from 'import-in-the-middle/register-hooks.mjs';
import { withTimeout } from '../time.ts';
import { version } from '../version.ts';

const stopMs = 2000;
/** Only these pass the loader hook. */
const instrumented = ['http', 'https', 'koa', '@koa/router', 'pg', 'pg-pool', 'amqplib'];

/**
 * @param endpoint base URL of an OTLP receiver, without `/v1/traces`
 * @param service the resource's `service.name`
 */
export function startTracing({ endpoint, service }: { readonly endpoint: string; readonly service: string }) {
  register({ include: instrumented });
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces` });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': service, 'service.version': version }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  registerInstrumentations({
    instrumentations: [
      new HttpInstrumentation({
        ignoreIncomingRequestHook: ({ url = '' }) => /^\/(health|metrics)\b/.test(url),
        // A source of the intake may be known by this parameter.
        redactedQueryParamsServer: ['token'],
      }),
      new KoaInstrumentation({ ignoreLayersType: [KoaLayerType.MIDDLEWARE] }),
      new PgInstrumentation({ requireParentSpan: true, ignoreConnectSpans: true }),
      new AmqplibInstrumentation(),
    ],
  });
  return {
    /** Sends what has gathered, for 2 s at most. Never rejects. */
    stop: () =>
      withTimeout(
        provider.shutdown().catch(() => undefined),
        stopMs,
        () => undefined,
      ),
  };
}
