import { expect } from 'chai';
import { createDayStart, timeZone } from '../../../../services/webhook-intake/dashboard/statistics.ts';

describe('timeZone', () => {
  it('knows the names of the IANA database, also older ones and in any case', () => {
    for (const name of ['UTC', 'Europe/Dublin', 'europe/dublin', 'Asia/Calcutta', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'])
      expect(timeZone(name), name).to.be.a('string');
  });
  it('knows nothing else', () => {
    for (const name of ['', ' ', 'Mars/Olympus', '+01:00', '-05', 'Europe/Dublin ', '1', 'Europe/Dublin,UTC']) expect(timeZone(name), name).to.equal(undefined);
  });
});

describe('createDayStart', () => {
  const start = (zone: string, instant: string) => createDayStart(zone)(new Date(instant)).toISOString();

  it('is midnight in UTC', () => expect(start('UTC', '2026-03-04T18:00:00Z')).to.equal('2026-03-04T00:00:00.000Z'));
  it('is the local midnight east and west of it', () => {
    expect(start('Asia/Kolkata', '2026-03-04T18:30:00Z')).to.equal('2026-03-04T18:30:00.000Z');
    expect(start('Asia/Kolkata', '2026-03-04T18:29:59Z')).to.equal('2026-03-03T18:30:00.000Z');
    expect(start('America/New_York', '2026-01-04T04:59:59Z')).to.equal('2026-01-03T05:00:00.000Z');
  });
  it('is the midnight before the clocks changed, on the day they do', () => {
    expect(start('Europe/Dublin', '2026-03-29T18:00:00Z')).to.equal('2026-03-29T00:00:00.000Z');
    expect(start('Europe/Dublin', '2026-03-30T18:00:00Z')).to.equal('2026-03-29T23:00:00.000Z');
    expect(start('Europe/Dublin', '2026-10-25T18:00:00Z')).to.equal('2026-10-24T23:00:00.000Z');
    expect(start('Europe/Dublin', '2026-10-26T18:00:00Z')).to.equal('2026-10-26T00:00:00.000Z');
  });
  it('is one o’clock where clocks were put forward at midnight', () => {
    expect(start('America/Sao_Paulo', '2018-11-04T12:00:00Z')).to.equal('2018-11-04T03:00:00.000Z');
    expect(start('America/Sao_Paulo', '2018-11-04T02:59:59Z')).to.equal('2018-11-03T03:00:00.000Z');
  });
  it('is the first of two midnights', () => {
    expect(start('America/Havana', '2025-11-02T18:00:00Z')).to.equal('2025-11-02T04:00:00.000Z');
    expect(start('America/Havana', '2025-11-02T04:30:00Z')).to.equal('2025-11-02T04:00:00.000Z');
  });
  it('agrees with the calendar of the zone at every hour of two years', () => {
    for (const zone of [
      'Europe/Dublin',
      'America/New_York',
      'America/Havana',
      'Africa/Cairo',
      'Australia/Lord_Howe',
      'Pacific/Chatham',
      'Pacific/Kiritimati',
    ]) {
      const day = new Intl.DateTimeFormat('en', { timeZone: zone, dateStyle: 'short' });
      const dayStart = createDayStart(zone);
      const days = new Map<number, string>();
      /** The day that begins at a start; none where the instant before it is of the same day. */
      const dayFrom = (start: number) => {
        const known = days.get(start) ?? (day.format(start - 1) === day.format(start) ? 'none' : day.format(start));
        days.set(start, known);
        return known;
      };
      for (let hour = 0; hour < 2 * 365 * 24; hour += 1) {
        const instant = new Date(Date.UTC(2025, 0, 1, hour));
        const found = dayStart(instant);
        expect(found <= instant && dayFrom(found.getTime()) === day.format(instant), `${zone} ${instant.toISOString()}`).to.equal(true);
      }
    }
  });
});
