// Monitors, alerts and dashboards as either chart gives them to Prometheus and Grafana.
import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { dashboards, promtool } from '../monitoring/shipped.ts';
import { temporaryDirectory } from '../support/guard.ts';
import { describeWith } from '../support/need.ts';
import { merged, type Values } from '../support/values.ts';
import { chart, helm, render, template } from './chart.ts';
import { type Manifest, ofKind } from './manifests.ts';

const on: Values = {
  monitoring: { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true }, grafanaDashboard: { enabled: true } },
};
const charts = { signalbox: chart, 'signalbox-operator': join(chart, '../signalbox-operator') };

/** The limit of annotations, in which client-side apply keeps a copy of the object. */
const lastAppliedBytes = 256 * 1024;

const Groups = z.object({ spec: z.object({ groups: z.array(z.object({ name: z.string(), rules: z.array(z.looseObject({ alert: z.string() })) })) }) });
const rulesOf = (manifests: readonly Manifest[]) =>
  ofKind(manifests, 'PrometheusRule').flatMap((one) => Groups.parse(one).spec.groups.flatMap(({ rules }) => rules));
const rule = (values: Values): Values => merged(on, { monitoring: { prometheusRule: values } });

for (const [name, folder] of Object.entries(charts))
  describeWith(helm, `monitoring of ${name}`, () => {
    const isOfThis = ({ path }: { readonly path: string }) => path.startsWith(`${folder}/`);

    it('has a ConfigMap for each dashboard, named like it, which client-side apply can take', async () => {
      const maps = ofKind(await render(on, { folder }), 'ConfigMap').filter(({ metadata }) => metadata.labels?.['grafana_dashboard'] === '1');
      const own = dashboards.filter(isOfThis);
      expect(maps.map(({ data = {} }) => Object.keys(data))).to.have.deep.members(own.map(({ dashboard }) => [`${dashboard.uid}.json`]));
      for (const { metadata, data = {} } of maps)
        for (const [key, text] of Object.entries(data)) {
          expect(metadata.name).to.match(new RegExp(`-dashboard-${key.replace(/^signalbox-|\.json$/g, '')}$`));
          expect(JSON.parse(text)).to.deep.equal(JSON.parse(own.find(({ dashboard }) => `${dashboard.uid}.json` === key)?.text ?? 'null'));
          expect(text).to.not.include('\n');
          expect(Buffer.byteLength(text)).to.be.below(lastAppliedBytes / 4);
        }
    });

    it('refuses alerts where nothing is scraped, which would say for ever that all is down', async () => {
      const alone = { monitoring: { prometheusRule: { enabled: true } } };
      expect((await template(alone, { folder })).stderr).to.include('monitoring.prometheusRule.enabled needs monitoring.serviceMonitor.enabled');
      const otherwise = await render(merged(alone, { monitoring: { scrapedOtherwise: true } }), { folder });
      expect(rulesOf(otherwise)).to.not.be.empty;
      expect(ofKind(otherwise, 'ServiceMonitor')).to.deep.equal([]);
    });

    it('lets Prometheus in, with monitors or without', async () => {
      const letsIn = async (values: Values) => JSON.stringify(ofKind(await render(values, { folder }), 'NetworkPolicy')).includes('"port":9090}]');
      expect(await letsIn({ monitoring: { scrapedOtherwise: true } })).to.equal(true);
      expect(await letsIn(on)).to.equal(true);
    });

    it('is in the namespaces that values name, under names of its own, and scrapes that of the release', async () => {
      const namespaces = { serviceMonitor: 'prometheus', prometheusRule: 'rules', grafanaDashboard: 'grafana' };
      const elsewhere = Object.fromEntries(Object.entries(namespaces).map(([part, namespace]) => [part, { enabled: true, namespace }]));
      const manifests = await render({ monitoring: elsewhere }, { folder });
      const foreign = manifests.filter(({ metadata }) => (metadata.namespace ?? 'signalbox') !== 'signalbox');
      for (const { metadata } of foreign) expect(metadata.name).to.match(/^signalbox-signalbox/);
      expect(new Set(foreign.map(({ kind, metadata }) => `${kind} in ${metadata.namespace}`))).to.deep.equal(
        new Set(['ServiceMonitor in prometheus', 'PrometheusRule in rules', 'ConfigMap in grafana']),
      );
      expect(foreign).to.have.length(ofKind(manifests, 'ServiceMonitor', 'PrometheusRule').length + dashboards.filter(isOfThis).length);
      for (const { spec } of ofKind(manifests, 'ServiceMonitor')) expect(spec).to.deep.include({ namespaceSelector: { matchNames: ['signalbox'] } });
    });

    it('asks of its own namespace in each alert', async () => {
      const rules = rulesOf(await render(on, { folder, namespace: 'trains' }));
      expect(rules).to.not.be.empty;
      for (const { alert, expr } of rules) {
        expect(expr, alert).to.include('namespace="trains"');
        expect(expr, alert).to.not.include('namespace=~');
      }
    });

    it('leaves out the alerts that are named, and refuses a name that is none', async () => {
      const all = rulesOf(await render(on, { folder })).map(({ alert }) => alert);
      const [first = ''] = all;
      expect(rulesOf(await render(rule({ excludeRules: [first] }), { folder })).map(({ alert }) => alert)).to.deep.equal(
        all.filter((alert) => alert !== first),
      );
      expect((await template(rule({ excludeRules: ['SignalboxLate'] }), { folder })).stderr).to.include('there is no alert SignalboxLate');
    });

    it('gives each alert the labels of the values beside its own', async () => {
      for (const { alert, labels } of rulesOf(await render(rule({ additionalRuleLabels: { team: 'trains', severity: 'none' } }), { folder }))) {
        expect(labels, alert).to.include({ team: 'trains' });
        expect(labels, alert).to.not.include({ severity: 'none' });
      }
    });

    it('gives each alert the address of its runbook, or its path where there is none', async () => {
      for (const { alert, annotations } of rulesOf(await render(rule({ runbookUrl: 'https://git.test/' }), { folder }))) {
        expect(annotations, alert).to.include({ runbook_url: `https://git.test/k8s/runbooks/${alert}.md` });
        expect(annotations, alert).to.not.have.property('runbook');
      }
      for (const { alert, annotations } of rulesOf(await render(on, { folder }))) {
        expect(annotations, alert).to.include({ runbook: `k8s/runbooks/${alert}.md` });
        expect(annotations, alert).to.not.have.property('runbook_url');
      }
    });

    it('has monitors that need no label honoured', async () => {
      const monitors = ofKind(await render(on, { folder }), 'ServiceMonitor');
      expect(monitors).to.not.be.empty;
      expect(JSON.stringify(monitors)).to.not.include('honor');
    });
  });

describeWith({ ...promtool, missing: helm.missing ?? promtool.missing }, 'two installations in one Prometheus', () => {
  it('alert on what is down in the one, whatever runs in the other', async () => {
    const down = rulesOf(await render(on, { namespace: 'staging' })).find(({ alert }) => alert === 'SignalboxRelayDown');
    const folder = temporaryDirectory('staging');
    const [ruleFile, test] = [join(folder, 'rules.json'), join(folder, 'test.json')];
    writeFileSync(ruleFile, JSON.stringify({ groups: [{ name: 'staging', rules: [down] }] }));
    const series = (namespace: string) => `signalbox_health_check_ok{namespace="${namespace}", deployable="webhook-relay", check="spool"}`;
    const firing = 'ALERTS{alertname="SignalboxRelayDown", alertstate="firing", deployable="webhook-relay", namespace="staging", severity="critical"}';
    const tried = (namespace: string, labels: readonly string[]) => ({
      interval: '1m',
      input_series: [{ series: series(namespace), values: '1+0x20' }],
      promql_expr_test: [{ expr: 'ALERTS{alertstate="firing"}', eval_time: '10m', exp_samples: labels.map((one) => ({ labels: one, value: 1 })) }],
    });
    writeFileSync(test, JSON.stringify({ rule_files: [ruleFile], evaluation_interval: '1m', tests: [tried('production', [firing]), tried('staging', [])] }));
    const { stdout } = await promisify(execFile)('promtool', ['test', 'rules', test]);
    expect(stdout).to.include('SUCCESS');
  });
});
