// Findings of the doctor on the metrics port of its process, and its remedies for checks of readiness.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { gaugeFindings, workerFindings } from '../../services/command/doctor/process.ts';
import { remedies } from '../../services/command/doctor/services.ts';

describe('the doctor and its process', () => {
  it('names workers of its own process that are not ready, and what waits there', () => {
    const checks = {
      'secrets.schema': { ok: false },
      'listings geocoding.database': { ok: true },
      'bookmarks dead-links.database': { ok: false },
      'mailbox.mailbox': { ok: false, detail: 'News: refused' },
    };
    expect(workerFindings({ status: 'unready', checks }).map(({ subject, state, detail, toDo }) => [subject, state, detail, toDo])).to.deep.equal([
      ['bookmarks dead-links', 'wrong', 'not ready: database: failed', remedies['database']],
      ['mailbox', 'wrong', 'not ready: mailbox: News: refused', 'correct what the detail names; the log of mailbox says more'],
    ]);
    const metrics = [
      '# TYPE signalbox_notification_rules_current gauge',
      'signalbox_notification_rules_current{part="api"} 0',
      'signalbox_notification_rules_current{part="worker"} 0',
      'signalbox_own_events_oldest_seconds{deployable="listings"} 61.2',
      'signalbox_own_events_oldest_seconds{deployable="secrets"} 60',
      'signalbox_digest_broker_connected 0',
      'signalbox_digest_queue_messages{queue="newsletter.ingest"} 3',
      'signalbox_digest_queue_messages{queue="newsletter.ingest.dlq"} 4',
      'signalbox_secrets_expired 1',
      'signalbox_secrets_reads_total{outcome="refused"} 2',
      'signalbox_secrets_reads_total{outcome="done"} 9',
      'signalbox_secrets_token_reviews_total{outcome="accepted"} 8',
      'signalbox_secrets_token_reviews_total{outcome="refused"} 6',
      'signalbox_secrets_token_reviews_total{outcome="failed"} 5',
      'signalbox_secrets_token_reviews_total{outcome="keys-failed"} 0',
      'signalbox_secrets_audit_waiting 5001',
      'signalbox_secrets_audit_lost_total 3',
      'signalbox_relay_deliveries_total{outcome="spooled"} 4',
      'signalbox_relay_deliveries_total{outcome="lost"} 1',
      'signalbox_worker_connected{worker="service",broker="BROKER_URL_1"} 0',
      'signalbox_geocoder_failing_seconds 770.891',
      'signalbox_mailbox_connected{folder="News"} 0',
      'signalbox_mailbox_connected{folder="Homes"} 1',
      'signalbox_mail_mails_total{door="imap",target="digest",outcome="taken"} 9',
      'signalbox_mail_mails_total{door="imap",target="digest",outcome="refused"} 0',
      'signalbox_mail_mails_total{door="smtp",target="digest",outcome="refused"} 5',
      'signalbox_mail_mails_total{door="smtp",target="digest",outcome="unavailable"} 4',
      'signalbox_mail_mails_total{door="imap",target="digest",outcome="unavailable"} 3',
      '',
    ].join('\n');
    expect(gaugeFindings(metrics).map(({ subject, state, detail }) => [subject, state, detail])).to.deep.equal([
      ['notifications', 'warning', 'the file of rules was changed and has faults: the rules before it stay in use'],
      ['own events', 'warning', 'listings could not post the oldest for 61 s'],
      ['mails', 'wrong', 'the link digest is not connected to the broker with the queue of mails: it takes none'],
      ['mails', 'warning', '4 to the link digest were given up, and wait among the dead letters'],
      ['expired secrets', 'wrong', '1 within 7 days without a newer version: an older one is served again, or none'],
      ['changed secrets', 'warning', 'a value was changed in the database past the service: it is not served (refused reads since this process started: 2)'],
      ['tokens of pods', 'warning', 'the API server gave no usable answer (since this process started: 5): reads with those tokens were answered 503'],
      ['audit', 'wrong', '5001 entries wait for the database; from 20 000 on reads of secrets are refused, and an end of this process would lose them'],
      ['audit', 'warning', 'the database refused entries (since this process started: 3): only the log has them'],
      ['lost deliveries', 'warning', '1 since this process started: neither a broker nor the disk took them, only the forge has them'],
      ['worker service', 'warning', 'does not reach a broker connection: what the relay publishes there waits'],
      ['geocoder', 'warning', 'has answered nothing for 771 s'],
      ['mailbox', 'wrong', 'the folder News is not followed: its mails wait there'],
      ['mails', 'warning', 'by smtp, refused for good (since this process started: 5)'],
      ['mails', 'warning', 'by smtp, not taken at a try, and tried again (since this process started: 4)'],
    ]);
    expect(gaugeFindings(metrics.replaceAll(/ [\d.]+$/gm, ' 1')).map(({ subject }) => subject)).to.deep.equal([
      'mails',
      'expired secrets',
      'changed secrets',
      'tokens of pods',
      'audit',
      'lost deliveries',
      'mails',
      'mails',
    ]);
  });

  it('has a remedy for checks of readiness that there are, by their names', () => {
    const added = readdirSync('services', { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) => [...readFileSync(join('services', name), 'utf8').matchAll(/addCheck\('([^']+)'/g)].map(([, name]) => name));
    expect([...added, 'stopping']).to.include.members(Object.keys(remedies));
  });
});
