// The runbooks of faults: each page is there, and is a link where the console knows its address.
import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { Problems, services } from '../../../services/console/contract.ts';
import { runbookOf } from '../../../services/console/runbooks.ts';
import { Common } from '../../../services/platform/problem.ts';
import { useConsole } from './service.ts';

describe('runbooks of faults', () => {
  const { serviceAway, serviceSlow, serviceFailed, busy, credentialRefused, missing, notAllowed } = Problems;

  it('have a page for each fault of each service, and of the console itself', () => {
    const faults = services.flatMap((service) => [serviceAway, serviceSlow, serviceFailed, busy, credentialRefused].map((kind) => kind({ service })));
    for (const problem of [...faults, Common.failure(), Common.unavailable()]) {
      const { page = '', href } = runbookOf(problem, undefined) ?? {};
      expect(existsSync(new URL(`../../../${page}`, import.meta.url)), `${problem.kind.title} ${page}`).to.equal(true);
      expect(href).to.equal(undefined);
    }
  });

  it('are none for what a person can mend alone', () => {
    for (const problem of [missing(), notAllowed({ service: 'relay' }), Common.invalid({ errors: {} })])
      expect(runbookOf(problem, undefined)).to.equal(undefined);
  });

  it('lie below the address of the settings, with a slash between them', () => {
    for (const base of ['https://git.example.test/main', 'https://git.example.test/main/'])
      expect(runbookOf(serviceAway({ service: 'relay' }), base)?.href).to.equal('https://git.example.test/main/k8s/runbooks/SignalboxRelayDown.md');
  });
});

describe('error pages of a console that knows where runbooks are', () => {
  const console = useConsole({
    environment: {
      Console__RunbookUrl: 'https://git.example.test/main/',
      Console__BookmarksUrl: 'http://127.0.0.1:9',
      Console__BookmarksKey: 'a key of the tests',
    },
  });

  it('name the service, try again, the request, and link its runbook', async () => {
    const { status, text, headers } = await (await console.loggedIn()).get('/bookmarks?q=trains');
    expect(status).to.equal(502);
    expect(text)
      .to.include('bookmarks does not answer')
      .and.include('href="/bookmarks?q=trains"')
      .and.include(headers.get('x-request-id') ?? 'no id')
      .and.include('href="https://git.example.test/main/k8s/runbooks/SignalboxBookmarksDown.md"');
  });
});
