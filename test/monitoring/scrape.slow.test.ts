// Every metric of dashboards, alerts and docs/metrics.md exists, in the scrape of real processes and in a Prometheus that reads it.
import { expect } from 'chai';
import { describeWith } from '../support/need.ts';
import { ownRabbitmq } from '../support/rabbitmq.ts';
import { eventually } from '../support/wait.ts';
import { isOfOperator, listedMetrics, shownMetrics, targetLabels } from './metrics-page.ts';
import { type Prometheus, startPrometheus } from './prometheus.ts';
import { readExpression, selects, type Series } from './promql.ts';
import { type Scraped, seriesOf, startScraped } from './scraped.ts';
import { startScrapedServers } from './scraped-servers.ts';
import { dashboards, prometheus, rules as all } from './shipped.ts';

/** As Grafana would send it, for all namespaces. */
const sentByGrafana = (expression: string) => expression.replaceAll('$__rate_interval', '20s').replaceAll('$namespace', '.*');

/** The operator's alerts are in operator.slow.test.ts. */
const rules = all.filter(({ alert }) => !isOfOperator(alert));
const panels = dashboards.filter(({ dashboard }) => !isOfOperator(dashboard.uid)).flatMap(({ dashboard }) => dashboard.panels);
const named: readonly (readonly [where: string, expression: string])[] = [
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [`panel ${title}`, sentByGrafana(expr)] as const)),
  ...rules.map(({ alert, expr }) => [`alert ${alert}`, expr] as const),
];

/** Every label that a metric of ours may have: none that grows with what the world sends. */
const boundedLabels = [
  'door',
  'area',
  'service',
  'target',
  'folder',
  'limit',
  'deployable',
  'check',
  'broker',
  // The parts of a broker's address:
  'scheme',
  'host',
  'port',
  'virtual_host',
  'period',
  'queue',
  'worker',
  'source',
  'forge',
  'outcome',
  'table',
  'method',
  'route',
  'status',
  'le',
  'channel',
  'part',
  'schema',
  'pool',
  'state',
];

describeWith(ownRabbitmq, 'the scrape of real processes', function () {
  this.timeout(300_000);
  let scraped: Scraped;
  let servers: Awaited<ReturnType<typeof startScrapedServers>>;
  let texts: Readonly<Record<string, string>>;
  let series: readonly Series[];
  before(async () => {
    [scraped, servers] = await Promise.all([startScraped(), startScrapedServers()]);
    texts = await scraped.texts();
    series = seriesOf({ ...texts, ...(await servers.texts()) });
  });
  after(() => Promise.all([scraped.close(), servers.close()]));

  const own = () => series.filter(({ metric }) => metric.startsWith('signalbox_'));
  const labelsOf = (metrics: readonly string[]) =>
    new Set(series.filter(({ metric }) => metrics.includes(metric)).flatMap(({ labels }) => Object.keys(labels)));

  it('tells the use of each broker connection by the names of the design', () => {
    const period = new Date().toISOString().slice(0, 7);
    for (const name of ['BROKER_URL_1', 'BROKER_URL_2']) {
      for (const [metric, value] of Object.entries({ used: 3, limit: 3, remaining: 0 }))
        expect(texts['relay-0']).to.include(`signalbox_broker_messages_${metric}{broker="${name}",period="${period}"} ${value}\n`);
      expect(texts['relay-0']).to.match(new RegExp(`^signalbox_broker_active\\{broker="${name}"\\} [01]$`, 'm'));
      expect(texts['relay-0']).to.include(`signalbox_broker_connected{broker="${name}"} 1\n`);
      for (const queue of ['forge', 'forge-database', 'forge.dead'])
        expect(texts['relay-0']).to.include(`signalbox_broker_queue_messages{broker="${name}",queue="${queue}"} 0\n`);
    }
    expect(texts['relay-0']).to.include('signalbox_relay_deliveries_total{outcome="published"} 6\n').and.include('outcome="exhausted"} 2\n');
  });

  it('tells runs and connections of the workers, and readiness of everything', () => {
    for (const worker of ['service', 'database-service']) {
      expect(texts[`${worker}-0`]).to.match(new RegExp(`^signalbox_worker_runs_total\\{worker="${worker}",outcome="succeeded"\\} [1-9]`, 'm'));
      expect(texts[`${worker}-0`]).to.include(`signalbox_worker_runs_total{worker="${worker}",outcome="failed"} 0\n`);
      expect(texts[`${worker}-0`]).to.include(`signalbox_worker_oldest_message_seconds{worker="${worker}"} 0\n`);
      expect(texts[`${worker}-0`]).to.include(`signalbox_worker_connected{worker="${worker}",broker="BROKER_URL_2"} 1\n`);
    }
    expect(texts['secrets-0']).to.include('signalbox_health_check_ok{deployable="secrets",check="master keys"} 1\n');
  });

  for (const [where, expression] of named)
    it(`has what ${where} names: ${readExpression(expression)
      .selectors.map(({ metric }) => metric)
      .join(', ')}`, () => {
      const { selectors, grouping } = readExpression(expression);
      expect(selectors).to.not.be.empty;
      for (const selector of selectors)
        expect(
          series.some((one) => selects(selector, one)),
          JSON.stringify(selector),
        ).to.equal(true);
      expect([...labelsOf(selectors.map(({ metric }) => metric))]).to.include.members([...grouping]);
    });

  it('has bounded labels only, and nothing that came with a request', () => {
    const found = new Set(own().flatMap(({ labels }) => Object.keys(labels)));
    expect([...found].filter((label) => !boundedLabels.includes(label) && !targetLabels.includes(label))).to.deep.equal([]);
    for (const text of Object.values(texts)) for (const stranger of scraped.strangers) expect(text).to.not.include(stranger);
    expect(own().some(({ labels }) => labels['route'] === 'unrouted')).to.equal(true);
  });

  it('is what docs/metrics.md lists, with the labels and the help', () => {
    expect(listedMetrics().filter((line) => !isOfOperator(line))).to.deep.equal(shownMetrics(texts));
  });

  describeWith(prometheus, 'in a real Prometheus', () => {
    let server: Prometheus;
    before(async () => {
      server = await startPrometheus({ ...scraped.targets, ...servers.targets });
    });
    after(() => server.close());

    it('gives every panel of the dashboards something to show', async () => {
      for (const { title, targets } of panels)
        for (const { expr } of targets)
          await eventually(async () => expect(await server.query(sentByGrafana(expr)), `${title}: ${expr}`).to.not.be.empty, {
            withinMs: 60_000,
            everyMs: 250,
          });
    });

    it('keeps the label by which services are told apart', async () => {
      // A process that is slow to answer one scrape is missing until the next.
      await eventually(async () => {
        const services = (await server.query('count by (deployable) (signalbox_health_check_ok)')).map(({ deployable }) => deployable);
        expect(services).to.have.members([
          'webhook-relay',
          'webhook-intake',
          'service',
          'database-service',
          'secrets',
          'bookmarks',
          'dead-links',
          'listings',
          'geocoding',
          'link-digest',
          'console',
        ]);
      });
    });

    it('evaluates every alert without an error, and sees that both limits are reached', async () => {
      const states = await eventually(async () => {
        const all = await server.rules();
        return all.every(({ health }) => health !== 'unknown') && all;
      });
      expect(states.map(({ name, health, lastError }) => ({ name, health, lastError: lastError ?? '' }))).to.deep.equal(
        states.map(({ name }) => ({ name, health: 'ok', lastError: '' })),
      );
      expect(states.map(({ name }) => name)).to.have.members(all.map(({ alert }) => alert));
      await eventually(async () => {
        const active = (await server.rules()).filter(({ name, state }) => state !== 'inactive' && !isOfOperator(name)).map(({ name }) => name);
        expect(active).to.include.members(['SignalboxAllBrokersAtLimit', 'SignalboxBrokerLimitReached']);
        // The mailbox of the scraped worker is not there.
        expect(
          active.filter((name) => /Down|Disconnected|NoActive|NoBroker|Unready|Lost|Tampered/.test(name) && name !== 'SignalboxMailboxDisconnected'),
        ).to.deep.equal([]);
      });
    });

    it('shows in single numbers nothing of what has ended', async () => {
      await Promise.all([scraped.close(), servers.close()]);
      for (const { title, type, targets } of panels.filter((panel) => panel.targets.some(({ instant }) => instant)))
        for (const { expr } of targets)
          await eventually(
            async () =>
              expect(
                (await server.values(sentByGrafana(expr))).filter((value) => value !== 0),
                `${type} ${title}`,
              ).to.be.empty,
            {
              withinMs: 60_000,
              everyMs: 250,
            },
          );
    });
  });
});
