// Every metric of the operator's dashboard, alerts and table of metrics exists, in the scrape of a real operator on a real API server and in a Prometheus.
import { expect } from 'chai';
import { resourceOf } from '../../services/operator/secrets.ts';
import { createTestCluster, type TestCluster } from '../operator/operator.ts';
import { kubernetes } from '../support/kubernetes.ts';
import { describeWith } from '../support/need.ts';
import { type RunningProcess, startProcess } from '../support/processes.ts';
import { eventually, freePort } from '../support/wait.ts';
import { isOfOperator, listedMetrics, shownMetrics } from './metrics-page.ts';
import { type Prometheus, startPrometheus } from './prometheus.ts';
import { readExpression, selects } from './promql.ts';
import { seriesOf } from './scraped.ts';
import { dashboards, prometheus, rules } from './shipped.ts';

const sentByGrafana = (expression: string) => expression.replaceAll('$__rate_interval', '20s').replaceAll('$namespace', '.*');
const own = rules.filter(({ alert }) => isOfOperator(alert));
const panels = dashboards.filter(({ dashboard }) => isOfOperator(dashboard.uid)).flatMap(({ dashboard }) => dashboard.panels);

describeWith(kubernetes, 'the scrape of a real operator', function () {
  this.timeout(300_000);
  let cluster: TestCluster;
  let operator: RunningProcess;
  let metricsUrl: string;
  let text: string;

  before(async () => {
    cluster = await createTestCluster();
    // One object waits for a relay; the service of the other one is down, so that its reconciles fail.
    await cluster.apply(resourceOf('BrokerConnection'), { metadata: { name: 'one' }, spec: { position: 1, urlSecretRef: { name: 'brokers', key: 'one' } } });
    const application = { applicationName: 'Shop', apiKeySecretRef: { name: 'shop-key', key: 'key' } };
    await cluster.apply(resourceOf('SecretApplication'), { metadata: { name: 'shop' }, spec: application });
    const port = String(await freePort());
    metricsUrl = `http://127.0.0.1:${port}`;
    const secrets = { Secrets__BaseUrl: `http://127.0.0.1:${await freePort()}`, Management__AdminApiKey: 'the administrator of the tests' };
    const namespaces = { Operator__Namespace: cluster.namespace, Operator__LeaseNamespace: cluster.namespace };
    operator = startProcess(['operator'], { env: { KUBECONFIG: cluster.kubeconfig, METRICS_PORT: port, ...namespaces, ...secrets } });
    text = await eventually(
      async () => {
        const scrape = await (await fetch(`${metricsUrl}/metrics`)).text();
        const isDone =
          /reconciles_total\{.*outcome="failed"\} [1-9]/.test(scrape) &&
          scrape.includes('reason="RelayMissing"') &&
          scrape.includes('reason="ServiceUnavailable"');
        return isDone && scrape;
      },
      { withinMs: 60_000 },
    );
  });
  after(async () => {
    await operator.kill();
    await cluster.close();
  });

  it('counts objects by what their condition says', () => {
    expect(text).to.include('signalbox_operator_objects{kind="BrokerConnection",ready="False",reason="RelayMissing"} 1\n');
    expect(text).to.include('signalbox_operator_objects{kind="SecretApplication",ready="False",reason="ServiceUnavailable"} 1\n');
  });

  it('is what docs/metrics.md lists, with the labels and the help', () => {
    const shown = shownMetrics({ 'operator-0': text }).filter(isOfOperator);
    expect(shown).to.not.be.empty;
    expect(listedMetrics().filter(isOfOperator)).to.deep.equal(shown);
  });

  const expressions = [
    ...own.map(({ alert, expr }) => [`alert ${alert}`, expr] as const),
    ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [`panel ${title}`, sentByGrafana(expr)] as const)),
  ];
  for (const [where, expression] of expressions)
    it(`has what ${where} names`, () => {
      const { selectors, grouping } = readExpression(expression);
      const series = seriesOf({ 'operator-0': text });
      expect(selectors).to.not.be.empty;
      for (const selector of selectors)
        expect(
          series.filter((one) => selects(selector, one)),
          JSON.stringify(selector),
        ).to.not.be.empty;
      const labels = series.filter(({ metric }) => selectors.some((selector) => selector.metric === metric)).flatMap((one) => Object.keys(one.labels));
      expect(labels).to.include.members([...grouping]);
    });

  it('is asked by alerts for one namespace, which the chart names', () => {
    for (const { alert, expr } of own)
      for (const { metric, matchers } of readExpression(expr).selectors)
        expect(matchers, `${alert}: ${metric}`).to.deep.include({ label: 'namespace', operator: '=~', value: '.+' });
  });

  describeWith(prometheus, 'in a real Prometheus', () => {
    let server: Prometheus;
    before(async () => {
      server = await startPrometheus({ 'operator-0': metricsUrl });
    });
    after(() => server.close());

    it('gives every panel of the dashboard something to show', async () => {
      for (const { title, targets } of panels)
        for (const { expr } of targets)
          await eventually(async () => expect(await server.query(sentByGrafana(expr)), `${title}: ${expr}`).to.not.be.empty, {
            withinMs: 60_000,
            everyMs: 250,
          });
    });

    it('makes the alert on objects that are not Ready wait, and none of a missing operator', async () => {
      await eventually(async () => {
        const active = (await server.rules()).filter(({ name, state }) => isOfOperator(name) && state !== 'inactive').map(({ name }) => name);
        expect(active).to.include('SignalboxOperatorObjectsNotReady');
        expect(active).to.not.include('SignalboxOperatorDown').and.not.include('SignalboxOperatorNoLeader');
      });
    });
  });
});
