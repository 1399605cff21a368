// A Postgres and a RabbitMQ outside of an installation: another release of the chart, without TLS, which its Postgres does not have.
import { randomUUID } from 'node:crypto';
import { merged, type Values } from '../support/values.ts';
import { chart, type Installation, services } from './installation.ts';
import { step } from './say.ts';

const release = 'servers';

/** @param values of that release @returns the values with which an installation in the same namespace uses them */
export async function installServers({ kubectl, helm, valuesOf }: Pick<Installation, 'kubectl' | 'helm' | 'valuesOf'>, values: Values = {}): Promise<Values> {
  const without = Object.fromEntries([...services, 'console'].map((name) => [name, { enabled: false }]));
  const plain = { ingress: { enabled: false }, networkPolicy: { enabled: false }, rabbitmq: { queueType: 'quorum' }, services: without };
  await step('a Postgres and a RabbitMQ outside', () =>
    helm(['install', release, chart, '--wait', '--timeout', '5m'], merged(valuesOf(), { services: null }, plain, values)),
  );
  const { 'postgres-admin-password': password = '' } = await kubectl.secret(`${release}-signalbox-credentials`);
  const brokerPassword = randomUUID();
  const rabbitmqctl = (...args: readonly string[]) => kubectl.run(['exec', `${release}-signalbox-rabbitmq-0`, '--', 'rabbitmqctl', ...args]);
  await rabbitmqctl('add_user', 'outside', brokerPassword);
  await rabbitmqctl('set_permissions', 'outside', '.*', '.*', '.*');
  const secret = (name: string, key: string, value: string) => kubectl.run(['create', 'secret', 'generic', name, `--from-literal=${key}=${value}`]);
  await secret('signalbox-postgres', 'postgres-admin-password', password);
  await secret('signalbox-brokers', 'BROKER_URL_1', `amqp://outside:${brokerPassword}@${release}-signalbox-rabbitmq:5672`);
  return { postgres: { external: { host: `${release}-signalbox-postgres`, sslmode: 'disable' } } };
}
