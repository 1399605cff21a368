// Both client packages, installed as users do, follow the event log of a real intake.
import { expect } from 'chai';
import { createDashboard, type Dashboard, tokens } from '../services/webhook-intake/dashboard/ground.ts';
import { describeWith } from '../support/need.ts';
import { eventually } from '../support/wait.ts';
import { type Front, startFront } from './front.ts';
import { clients, type Failure, type Options, type Program } from './packages.ts';
import * as programs from './programs.ts';

for (const { name, need, install, optionsOf } of clients(programs)) {
  describeWith(need, `${name} follows events`, function () {
    this.timeout(300_000);
    let dashboard: Dashboard;
    let front: Front;
    let start: Awaited<ReturnType<typeof install>>;
    let program: Program;
    let number = 0;

    before(async () => {
      start = await install();
      dashboard = await createDashboard();
      front = await startFront(dashboard.url);
    });
    after(async () => {
      await front?.close();
      await dashboard?.close();
    });
    beforeEach(() => {
      front.meet('pass');
      front.takeAsked();
      program = start();
    });
    afterEach(() => program.kill());

    /** In one transaction. @returns the ids */
    async function deliver(...events: readonly string[]): Promise<readonly string[]> {
      const deliveries = events.map((event) => ({ event, payload: { repository: { full_name: 'me/mine' } }, deliveryId: `d${++number}` }));
      await dashboard.deliver(deliveries, { only: 'events' });
      return deliveries.map(({ deliveryId }) => deliveryId);
    }
    const follow = (options: Options = {}) => program.ask('follow', optionsOf({ url: front.url, token: tokens[0], ...options }));
    const lastCursor = () => String(program.newsOf('cursor').at(-1));
    /** From now on: its first cursor is there. */
    async function followFromNow(options: Options = {}): Promise<void> {
      await follow(options);
      await program.awaitNews('cursor');
    }
    async function restart(): Promise<void> {
      await program.kill();
      program = start();
    }

    it('from now on, in the order of storing', async () => {
      await deliver('push');
      await followFromNow();
      const expected = [...(await deliver('push')), ...(await deliver('issues', 'push'))];
      await program.awaitNews('event', 3);
      expect(program.newsOf('event')).to.deep.equal(expected);
    });

    it('of a filter', async () => {
      await followFromNow({ filter: { event: 'issues' } });
      await deliver('push');
      const expected = await deliver('issues');
      await program.awaitNews('event');
      expect(program.newsOf('event')).to.deep.equal(expected);
    });

    it('from a cursor on, with what was stored meanwhile', async () => {
      await followFromNow();
      const cursor = lastCursor();
      await restart();
      const expected = await deliver('push', 'issues');
      await follow({ cursor });
      await program.awaitNews('event', 2);
      expect(program.newsOf('event')).to.deep.equal(expected);
    });

    it('again that were not handled to the end', async () => {
      await followFromNow({ heldAfter: 2 });
      const expected = await deliver('push', 'push', 'push');
      await program.awaitNews('event', 2);
      const cursor = lastCursor();
      await restart();
      await follow({ cursor });
      await program.awaitNews('event', 3);
      expect(program.newsOf('event')).to.deep.equal(expected);
      await eventually(() => program.newsOf('cursor').length === 1);
      expect(lastCursor()).not.to.equal(cursor);
    });

    it('without missing one while the service is unavailable', async () => {
      await followFromNow();
      front.meet('drop');
      await program.awaitNews('retry', 2);
      const expected = await deliver('push');
      front.meet({ status: 503, headers: { 'Retry-After': '0' } });
      await eventually(() => program.newsOf('retry').includes(503));
      front.meet('pass');
      await program.awaitNews('event');
      expect(program.newsOf('event')).to.deep.equal(expected);
      expect(program.newsOf('retry')[0]).to.equal(null);
    });

    it('after a request that was never answered', async () => {
      await followFromNow({ waitSeconds: 1, timeoutMs: 200 });
      front.meet('hang');
      await program.awaitNews('retry');
      const expected = await deliver('push');
      front.meet('pass');
      await program.awaitNews('event');
      expect(program.newsOf('event')).to.deep.equal(expected);
    });

    it('until it is stopped, in the middle of a request or a pause', async () => {
      await followFromNow({ waitSeconds: 60 });
      await eventually(() => front.openRequests === 1);
      await program.ask('stop');
      await program.awaitNews('ended');
      expect(program.newsOf('retry')).to.deep.equal([]);
      await restart();
      front.meet({ status: 503, headers: { 'Retry-After': '3600' } });
      await follow();
      await program.awaitNews('retry');
      await program.ask('stop');
      await program.awaitNews('ended');
      expect(program.newsOf('failed')).to.deep.equal([]);
    });

    it('until it is stopped while an event is handled, and leaves no timer behind', async () => {
      await followFromNow({ stopAfter: 1 });
      await deliver('push');
      await program.awaitNews('ended');
      expect(await program.ask('timers')).to.equal(0);
    });

    it('until its cursor cannot be kept, which is no end without an error once it is stopped', async () => {
      await followFromNow({ stopAfter: 1, failsToSave: true });
      await deliver('push');
      await program.awaitNews('failed');
      const [failure] = program.newsOf('failed') as readonly Failure[];
      expect(failure?.message).to.contain('no room for the cursor');
    });

    const refusals: Readonly<Record<number, Options>> = {
      401: { token: 'a token that is not right' },
      410: { cursor: Buffer.from('["events/stored",999999]').toString('base64url') },
      400: { filter: { none: 'x' }, cursor: 'x' },
    };
    for (const [status, options] of Object.entries(refusals))
      it(`and fails with ${status}, after one request`, async () => {
        await follow(options);
        await program.awaitNews('failed');
        const [failure] = program.newsOf('failed') as readonly Failure[];
        expect(failure).to.include({ failed: 'RequestFailed', status: Number(status) });
        expect(failure?.message).not.to.contain('a token that is not right');
        expect(front.takeAsked()).to.have.length(1);
      });
  });
}
