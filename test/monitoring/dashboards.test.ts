// The dashboards: what Grafana needs to show them, and nothing that it would not find.
import { expect } from 'chai';
import { type Dashboard, dashboards, type Panel } from './shipped.ts';
import { readExpression } from './promql.ts';

/** The one that Grafana 12 saves; older ones read it, too. */
const currentSchema = 42;
/** Grafana's own. */
const builtIn = new Set(['__rate_interval', '__interval', '__range']);

/** Types of panels that show a value each, and not its course. */
const singleNumbers = new Set(['stat', 'bargauge', 'gauge', 'table']);

const content = ({ panels }: Dashboard): Panel[] => panels.filter(({ type }) => type !== 'row');
const overlap = ({ gridPos: a }: Panel, { gridPos: b }: Panel) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

for (const { dashboard, text } of dashboards) {
  describe(`dashboard ${dashboard.title}`, () => {
    it('is of the current schema, under an address of its own', () => {
      expect(dashboard.schemaVersion).to.equal(currentSchema);
      expect(dashboard.uid).to.match(/^signalbox-[a-z-]+$/);
      expect('id' in dashboard, 'an id is given by the Grafana it is loaded into').to.equal(false);
    });

    it('refers to the variables that it declares, and to each of them', () => {
      const used = new Set([...text.matchAll(/\$\{?(\w+)/g)].map(([, name = '']) => name).filter((name) => !builtIn.has(name)));
      expect([...used].sort()).to.deep.equal(dashboard.templating.list.map(({ name }) => name).sort());
    });

    it('asks the data source that is chosen, everywhere', () => {
      expect(dashboard.templating.list[0]).to.include({ name: 'datasource', type: 'datasource', query: 'prometheus' });
      const uids = [...text.matchAll(/"uid": "([^"]*)"/g)].map(([, uid = '']) => uid).filter((uid) => uid !== dashboard.uid && uid !== '-- Grafana --');
      expect(new Set(uids)).to.deep.equal(new Set(['${datasource}']));
      for (const { title, datasource } of content(dashboard)) expect(datasource, title).to.not.equal(undefined);
    });

    it('has panels with a title, a description, a unit and a query each, which do not overlap', () => {
      const panels = content(dashboard);
      for (const { title, description, fieldConfig, targets } of panels) {
        expect(title).to.not.equal('');
        expect(description, title).to.match(/\.$/);
        expect(fieldConfig?.defaults.unit, title).to.be.a('string');
        expect(targets, title).to.not.be.empty;
        expect(new Set(targets.map(({ refId }) => refId)).size, title).to.equal(targets.length);
      }
      for (const key of ['id', 'title'] as const) expect(new Set(panels.map((panel) => panel[key])).size).to.equal(panels.length);
      dashboard.panels.forEach((panel, index) => {
        expect(panel.gridPos.x + panel.gridPos.w, panel.title).to.be.at.most(24);
        expect(
          dashboard.panels.slice(index + 1).filter((other) => overlap(panel, other)),
          panel.title,
        ).to.deep.equal([]);
      });
    });

    it('shows in single numbers what is now, and says so where there is none', () => {
      for (const { title, type, fieldConfig, targets } of content(dashboard)) {
        const isNow = singleNumbers.has(type);
        // A range query with its last value shows for hours what has ended.
        for (const target of targets) expect(target, title).to.include({ instant: isNow, range: !isNow });
        if (!isNow) continue;
        expect(fieldConfig?.defaults.noValue, title).to.be.a('string').and.not.equal('');
        // A count of nothing is no 0 to Prometheus.
        for (const { expr } of targets) if (/^count ?\(/.test(expr)) expect(expr, title).to.match(/ or vector\(0\)$/);
      }
    });

    it('sums up each series in its legend, by what is no last value: that of one that has ended would be of the past', () => {
      for (const { title, type, options } of content(dashboard))
        if (type === 'timeseries') expect(options, title).to.deep.nested.include({ 'legend.displayMode': 'table', 'legend.calcs': ['mean', 'max'] });
    });

    it('is of one installation, leads to the others, and marks when alerts fired', () => {
      expect(dashboard.templating.list.find(({ name }) => name === 'namespace')).to.include({ multi: false, includeAll: false });
      expect(dashboard.links.flatMap(({ tags }) => tags)).to.deep.equal(['signalbox', 'signalbox-operator']);
      expect(dashboard.tags).to.have.length(1);
      expect(dashboard.annotations.list.map(({ expr }) => expr ?? '').join()).to.include('ALERTS{namespace=~"$namespace"');
    });

    it('keeps to the namespaces that are chosen, and names series by labels that are left', () => {
      for (const { title, targets } of content(dashboard))
        for (const { expr, legendFormat = '' } of targets) {
          const { selectors, grouping } = readExpression(expr);
          for (const { metric, matchers } of selectors)
            expect(matchers, `${title}: ${metric}`).to.deep.include({ label: 'namespace', operator: '=~', value: '$namespace' });
          const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
          expect(grouping, title).to.include.members(shown);
        }
    });
  });
}
