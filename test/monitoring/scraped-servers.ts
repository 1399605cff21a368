// Targets of Prometheus beside Signalbox' processes: a real RabbitMQ with its plugin, and Kubernetes' metrics of claims and CronJobs.
import { createServer } from 'node:http';
import { once } from 'node:events';
import { startRabbitmq } from '../support/rabbitmq.ts';
import { eventually, freePort } from '../support/wait.ts';
import { connect } from 'amqplib';

/** As kubelet and kube-state-metrics write it; a machine of tests has neither. */
const ofKubernetes = `kubelet_volume_stats_available_bytes{persistentvolumeclaim="data-signalbox-postgres-0"} 6e+09
kubelet_volume_stats_capacity_bytes{persistentvolumeclaim="data-signalbox-postgres-0"} 8e+09
kube_cronjob_created{cronjob="signalbox-backup"} 1.7e+09
kube_cronjob_status_last_successful_time{cronjob="signalbox-backup"} 1.7e+09
`;

/** The metrics of Prometheus itself. */
const ofPrometheus = 'ALERTS{alertname="SignalboxAllBrokersAtLimit",alertstate="firing",severity="critical"} 1\n';

export async function startScrapedServers() {
  const port = await freePort();
  const config = `prometheus.tcp.ip = 127.0.0.1\nprometheus.tcp.port = ${port}`;
  const rabbitmq = await startRabbitmq({ plugins: ['rabbitmq_prometheus'], config });
  const connection = await connect(rabbitmq.url);
  await (await connection.createChannel()).assertQueue('scraped');
  const kubernetes = createServer((_, response) => response.setHeader('Content-Type', 'text/plain; version=0.0.4').end(ofKubernetes)).listen(0, '127.0.0.1');
  await once(kubernetes, 'listening');
  const address = kubernetes.address();
  if (address === null || typeof address === 'string') throw new TypeError('a TCP server has a port');
  const targets = { 'rabbitmq-0': `http://127.0.0.1:${port}`, kubernetes: `http://127.0.0.1:${address.port}` };
  const text = async (url: string) => (await fetch(`${url}/metrics`)).text();
  // Its metrics of queues are gathered every few seconds.
  await eventually(async () => (await text(targets['rabbitmq-0'])).includes('\nrabbitmq_queue_messages_ready '), { withinMs: 30_000, everyMs: 250 });
  let closed: Promise<void> | undefined;
  const close = async () => {
    kubernetes.close();
    kubernetes.closeAllConnections();
    connection.on('error', () => undefined);
    await rabbitmq.close();
  };
  return {
    targets,
    texts: async () => ({ 'rabbitmq-0': await text(targets['rabbitmq-0']), kubernetes: ofKubernetes, prometheus: ofPrometheus }),
    close: () => (closed ??= close()),
  };
}
