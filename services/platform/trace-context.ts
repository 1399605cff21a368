// The trace that work belongs to, for messages and batches. Without a receiver of traces (process/tracing.ts) all of this does nothing.
import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { describeError } from './errors.ts';

/** The W3C `traceparent` of the span in work; undefined when nothing is traced. */
export function activeTraceparent(): string | undefined {
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
}

type Carrier = { readonly headers: Readonly<Record<string, string>> };

/** Runs `work` in a span that goes on with the trace of the batch's first message and links those of the others. */
export async function traceBatch<T>(name: string, batch: readonly Carrier[], work: () => Promise<T>): Promise<T> {
  const [first, ...others] = batch.map(({ headers }) => propagation.extract(ROOT_CONTEXT, headers));
  const links = others.flatMap((other) => trace.getSpanContext(other) ?? []).map((linked) => ({ context: linked }));
  const attributes = { 'messaging.batch.message_count': batch.length };
  const span = trace.getTracer('signalbox').startSpan(name, { kind: SpanKind.CONSUMER, links, attributes }, first);
  try {
    return await context.with(trace.setSpan(first ?? ROOT_CONTEXT, span), work);
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR, message: describeError(error) });
    throw error;
  } finally {
    span.end();
  }
}
