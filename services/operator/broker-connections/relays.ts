// The relays of a namespace: their pods, the files that they follow, and the state of their connections.
import { z } from 'zod';
import { describeError } from '../../platform/errors.ts';
import { ConnectionList, PeriodUsage, UsageHistory } from '../../webhook-relay/contract.ts';
import type { KubeObject } from '../cluster/cluster.ts';

const Variable = z.object({
  name: z.string(),
  value: z.string().optional(),
  valueFrom: z.object({ secretKeyRef: z.object({ name: z.string(), key: z.string() }).optional() }).optional(),
});
const Container = z.object({
  env: z.array(Variable).default([]),
  ports: z.array(z.object({ name: z.string().optional(), containerPort: z.int() })).default([]),
});
const Spec = z.object({
  containers: z.array(Container),
  volumes: z.array(z.object({ name: z.string(), secret: z.object({ secretName: z.string() }).optional() })).default([]),
});
const Status = z.object({ podIP: z.string().optional(), conditions: z.array(z.object({ type: z.string(), status: z.string() })).default([]) });

export type Pod = {
  readonly object: KubeObject;
  /** The Secret of the file that it follows. */
  readonly fileSecret: string | undefined;
  /** Its key in that Secret. */
  readonly fileKey: string;
  readonly isRelay: boolean;
  /** `http://10.0.0.1:8080`; undefined while it is not ready. */
  readonly url: string | undefined;
  readonly metricsUrl: string | undefined;
  /** The credential that the relay expects: a text, or the key of a Secret. */
  readonly token: string | { readonly name: string; readonly key: string } | undefined;
  /** Positions that its own environment configures. */
  readonly given: readonly number[];
};

/** The chart sets it on pods that follow a file of connections. */
export const followers = 'signalbox.dev/brokers=followed';

export function readPod(object: KubeObject): Pod {
  const { containers, volumes } = Spec.catch({ containers: [], volumes: [] }).parse(object['spec']);
  const { podIP, conditions } = Status.catch({ conditions: [] }).parse(object['status'] ?? {});
  const isReady = conditions.some(({ type, status }) => type === 'Ready' && status === 'True') && object.metadata.deletionTimestamp === undefined;
  const variables = containers.flatMap(({ env }) => env);
  const token = variables.find(({ name }) => name === 'Broker__AuthToken');
  const urlOf = (port: string) => {
    const number = containers.flatMap(({ ports }) => ports).find(({ name }) => name === port)?.containerPort;
    const host = podIP?.includes(':') ? `[${podIP}]` : podIP;
    return isReady && host !== undefined && number !== undefined ? `http://${host}:${number}` : undefined;
  };
  return {
    object,
    fileSecret: volumes.find(({ name }) => name === 'brokers')?.secret?.secretName,
    fileKey:
      variables
        .find(({ name }) => name === 'Broker__EnvironmentFile')
        ?.value?.split('/')
        .at(-1) ?? 'brokers.env',
    isRelay: object.metadata.labels?.['app.kubernetes.io/component'] === 'webhook-relay',
    url: urlOf('http'),
    metricsUrl: urlOf('metrics'),
    token: token?.value ?? token?.valueFrom?.secretKeyRef,
    given: variables.flatMap(({ name }) => /^BROKER_URL_(\d+)$/.exec(name)?.[1] ?? []).map(Number),
  };
}

const answerMs = 5000;
/** Any pod with a relay's label is asked, also one that never ends its answer. */
const maxAnswerBytes = 1024 * 1024;

/** The text of an answer, or the reason for its absence. */
type Answer = { readonly text: string } | { readonly fault: string };

async function ask(url: string, signal: AbortSignal, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  try {
    const answer = await fetch(url, { headers, redirect: 'manual', signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]) });
    const text = await readAtMost(answer.body, maxAnswerBytes);
    if (text === undefined) return { fault: `${url} answers more than ${maxAnswerBytes} bytes` };
    return answer.ok ? { text } : { fault: `${url} answers ${answer.status}` };
  } catch (error) {
    const isLate = error instanceof DOMException && error.name === 'TimeoutError';
    return { fault: `${url} ${isLate ? `does not answer within ${answerMs} ms` : `cannot be reached: ${reasonOf(error)}`}` };
  }
}

/** The error of `fetch` says only that it failed; the reason is its cause. */
const reasonOf = (error: unknown) => describeError(error instanceof Error && error.cause !== undefined ? error.cause : error);

/** Undefined for a longer answer, of which the rest is not read. */
async function readAtMost(body: AsyncIterable<Uint8Array> | null, maxBytes: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const textOf = (answer: Answer): string | undefined => ('text' in answer ? answer.text : undefined);

function parseJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '', (name, value: unknown) => (/At$|^updated$/.test(name) && typeof value === 'string' ? new Date(value) : value));
  } catch {
    return undefined;
  }
}

type Asking = { readonly token: string; readonly signal: AbortSignal };

/** The connections of a relay, or the reason why they are unknown. */
export type RelayAnswer = { readonly list: ConnectionList } | { readonly fault: string };

export async function listConnections(url: string, { token, signal }: Asking): Promise<RelayAnswer> {
  const answer = await ask(`${url}/Broker/connections`, signal, { authorization: `Bearer ${token}` });
  if ('fault' in answer) return answer;
  const list = ConnectionList.safeParse(parseJson(answer.text)).data;
  return list ? { list } : { fault: `what ${url}/Broker/connections answers is no list of connections` };
}

/** The month of the counts. */
export async function periodOf(url: string, { token, signal }: Asking): Promise<string | undefined> {
  const answer = parseJson(textOf(await ask(`${url}/broker/usage/current`, signal, { authorization: `Bearer ${token}` })));
  return PeriodUsage.pick({ period: true }).safeParse(answer).data?.period;
}

/** The brokers with a message in any month; undefined when the relay does not answer. */
export async function usedBrokers(url: string, { token, signal }: Asking): Promise<ReadonlySet<string> | undefined> {
  const answer = parseJson(textOf(await ask(`${url}/broker/usage`, signal, { authorization: `Bearer ${token}` })));
  const periods = UsageHistory.safeParse(answer).data?.periods;
  return periods && new Set(periods.flatMap(({ brokers }) => brokers.filter(({ messageCount }) => messageCount > 0).map(({ broker }) => broker)));
}

/** Messages in the queues of each connection, by its name, without dead letters; empty when the relay does not answer. */
export async function queuedMessages(metricsUrl: string, signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
  const text = textOf(await ask(`${metricsUrl}/metrics`, signal)) ?? '';
  const counts = new Map<string, number>();
  for (const [, labels = '', value] of text.matchAll(/^signalbox_broker_queue_messages\{([^}]*)\} (\S+)$/gm)) {
    const broker = /broker="([^"]*)"/.exec(labels)?.[1];
    const queue = /queue="([^"]*)"/.exec(labels)?.[1];
    if (broker !== undefined && queue !== 'forge.dead') counts.set(broker, (counts.get(broker) ?? 0) + Number(value));
  }
  return counts;
}
