import { expect } from 'chai';
import { createMetrics, forScrape, type Reading } from '../../services/platform/metrics.ts';
import { eventually } from '../support/wait.ts';

describe('createMetrics', () => {
  it('writes counters, gauges and histograms as Prometheus reads them', async () => {
    const metrics = createMetrics();
    metrics.counter({ name: 'signalbox_things_total', help: 'Things.', labels: ['kind'] }).inc({ kind: 'a "b"' }, 2);
    metrics.gauge({ name: 'signalbox_level', help: 'Level.', labels: [] }).set(3);
    metrics.histogram({ name: 'signalbox_seconds', help: 'Seconds.', labels: [], buckets: [1, 2] }).observe(1.5);
    const lines = (await metrics.text()).split('\n');
    expect(lines).to.include.members([
      '# TYPE signalbox_things_total counter',
      'signalbox_things_total{kind="a \\"b\\""} 2',
      'signalbox_level 3',
      'signalbox_seconds_bucket{le="1"} 0',
      'signalbox_seconds_bucket{le="2"} 1',
      'signalbox_seconds_bucket{le="+Inf"} 1',
    ]);
    expect(metrics.contentType).to.match(/^text\/plain; version=0\.0\.4/);
  });

  it('shows the series of a counter that are known beforehand as 0, of each deployable that declares it', async () => {
    const metrics = createMetrics();
    for (const service of ['one', 'two'])
      metrics.counter({ name: 'signalbox_things_total', help: 'Things.', labels: ['service'], series: [{ service }] }).inc({ service: 'one' });
    expect(await metrics.text())
      .to.include('signalbox_things_total{service="one"} 2')
      .and.to.include('signalbox_things_total{service="two"} 0');
  });

  it('gives two deployables of one process the same metric', async () => {
    const metrics = createMetrics();
    const declare = () => metrics.counter({ name: 'signalbox_things_total', help: 'Things.', labels: ['service'] });
    declare().inc({ service: 'one' });
    declare().inc({ service: 'two' });
    expect(await metrics.text())
      .to.include('signalbox_things_total{service="one"} 1')
      .and.to.include('signalbox_things_total{service="two"} 1');
  });

  it('asks a collecting gauge at every scrape', async () => {
    const metrics = createMetrics();
    let level = 0;
    metrics.gauge({ name: 'signalbox_level', help: 'Level.', labels: [], collect: (gauge) => gauge.set(++level) });
    expect(await metrics.text()).to.include('signalbox_level 1');
    expect(await metrics.text()).to.include('signalbox_level 2');
  });

  it('says nothing of a gauge without labels that has no answer', async () => {
    const metrics = createMetrics();
    let level: number | undefined = 7;
    const collect = (gauge: Reading<never>) => {
      if (level !== undefined) gauge.set(level);
    };
    metrics.gauge({ name: 'signalbox_level', help: 'Level.', labels: [], collect });
    expect(await metrics.text()).to.include('\nsignalbox_level 7\n');
    level = undefined;
    expect(await metrics.text()).to.not.match(/^signalbox_level/m);
    level = 0;
    expect(await metrics.text()).to.include('\nsignalbox_level 0\n');
  });

  it('asks the collectors of two deployables for the same gauge, and forgets what neither sets again', async () => {
    const metrics = createMetrics();
    let brokers = ['one', 'two'];
    const declare = (worker: string) =>
      metrics.gauge({
        name: 'signalbox_connected',
        help: 'Connected.',
        labels: ['worker', 'broker'],
        collect: async (gauge) => {
          for (const broker of await Promise.resolve(brokers)) gauge.set({ worker, broker }, 1);
        },
      });
    declare('first');
    declare('second');
    const shown = async () => (await metrics.text()).split('\n').filter((line) => line.startsWith('signalbox_connected{'));
    const [scrape, atOnce] = await Promise.all([shown(), shown()]);
    expect(scrape).to.have.members(
      ['first', 'second'].flatMap((worker) => brokers.map((broker) => `signalbox_connected{worker="${worker}",broker="${broker}"} 1`)),
    );
    expect(atOnce).to.have.members(scrape);
    brokers = ['two'];
    expect(await shown()).to.deep.equal(['signalbox_connected{worker="first",broker="two"} 1', 'signalbox_connected{worker="second",broker="two"} 1']);
  });

  it('waits once for several deployables whose server hangs', async () => {
    const metrics = createMetrics();
    const waiting: (() => void)[] = [];
    for (const service of ['one', 'two', 'three'])
      metrics.gauge({
        name: 'signalbox_waits',
        help: 'Waits.',
        labels: ['of'],
        async collect(gauge) {
          await new Promise<void>((resolve) => waiting.push(resolve));
          gauge.set({ of: service }, 1);
        },
      });
    const text = metrics.text();
    await eventually(() => waiting.length === 3);
    for (const answer of waiting) answer();
    expect((await text).match(/^signalbox_waits\{/gm)).to.have.length(3);
  });

  it('keeps registries apart, and adds the metrics of the process on request', async () => {
    createMetrics().counter({ name: 'signalbox_things_total', help: 'Things.', labels: [] });
    expect(await createMetrics().text()).to.equal('\n');
    expect(await createMetrics({ process: true }).text()).to.include('process_cpu_seconds_total');
  });

  it('asks once for all gauges of a scrape, and says nothing where there is no answer', async () => {
    const metrics = createMetrics();
    let asked = 0;
    const answers: (number | undefined)[] = [7, undefined];
    const ask = forScrape(async () => {
      await Promise.resolve();
      const answer = answers[asked++];
      if (answer === undefined) throw new Error('away');
      return answer;
    });
    for (const name of ['signalbox_one', 'signalbox_two'])
      metrics.gauge({
        name,
        help: 'One.',
        labels: ['of'],
        async collect(reading) {
          const answer = await ask();
          if (answer !== undefined) reading.set({ of: 'all' }, answer);
        },
      });
    expect(await metrics.text())
      .to.include('\nsignalbox_one{of="all"} 7\n')
      .and.to.include('\nsignalbox_two{of="all"} 7\n');
    expect(await metrics.text()).to.not.match(/^signalbox_(one|two)/m);
    expect(asked).to.equal(2);
  });
});
