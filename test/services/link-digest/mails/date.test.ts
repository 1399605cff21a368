// The Date header, in the spellings of mail programs.
import { expect } from 'chai';
import { readDate } from '../../../../services/link-digest/mails/date.ts';
import { expectLinearTime } from '../../../support/linear-time.ts';

describe('readDate', () => {
  const same = '2025-01-14T09:00:00.000Z';
  for (const written of [
    'Tue, 14 Jan 2025 10:00:00 +0100',
    'Tue, 14 Jan 2025 10:00:00 +0100 (CET)',
    'Tue, 14 Jan 2025 10:00:00 +0100 (Mitteleuropäische Zeit (Normalzeit))',
    'Tue, 14 Jan 2025 10:00 +0100',
    'Tue,14 Jan 2025 10:00:00 +0100',
    'Tue 14 Jan 2025 10:00:00 +0100',
    'tue, 14 JAN 2025 10:00:00 +0100',
    'Tuesday, 14 January 2025 10:00:00 +0100',
    '14 Jan 25 10:00:00 +0100',
    '14-Jan-2025 10:00:00 +0100',
    '14 Jan 125 10:00:00 +0100',
    'Tue, 14 Jan 2025 10:00:00 +01:00',
    'Tue, 14 Jan 2025 10:00:00 GMT+0100',
    'Tue, 14 Jan 2025 10:00:00 GMT+1',
    'Tue, 14 Jan 2025 10:00:00 UTC+01:00',
    'Tue, 14 Jan 2025 09:00:00 UT',
    'Tue, 14 Jan 2025 09:00:00 Z',
    'Tue, 14 Jan 2025 09:00:00 -0000',
    'Tue, 14 Jan 2025 09:00:00',
    '14 Jan 2025 09:00:00 A',
    'Tue, 14 Jan 2025 09:00:00 +9999',
    'Tue Jan 14 09:00:00 2025',
    'Tue Jan 14 10:00:00 CET 2025',
    'Tue Jan 14 10:00:00 +0100 2025',
    'Tuesday, January 14, 2025 9:00 AM',
    'January 14th, 2025, 9:00:00 a.m.',
    '2025-01-14T10:00:00+01:00',
    '2025-01-14T09:00:00.000Z',
    '2025-01-14 09:00:00',
    '2025-01-14 10:00:00 +0100',
    'Di, 14 Jan 2025 10:00:00 +0100',
    'Dienstag, 14. Januar 2025 10:00:00 +0100',
    '14. Jänner 2025 10:00 CET',
    'mar., 14 janv. 2025 10:00:00 +0100',
    'mardi 14 janvier 2025 10:00:00 +0100',
    'mar, 14 gen 2025 10:00:00 +0100',
    'martes, 14 de enero de 2025 10:00:00 +0100',
    'ter, 14 de janeiro de 2025 10:00:00 +0100',
    'dinsdag 14 januari 2025 10:00:00 +0100',
    'wt., 14 sty 2025 10:00:00 +0100',
    '14.01.2025 10:00:00 +0100',
    '01/14/2025 10:00:00 +0100',
    '14/01/2025 10:00:00 +0100',
    'Tue, 14 Jan 2025 10.00.00 +0100',
    'ti 14. tammikuuta 2025 klo 9.00',
    '14 Ocak 2025 Salı 10:00:00 +0100',
    'Вт, 14 января 2025 г., 12:00 MSK',
    'вт, 14 січ. 2025 р. о 10:00 +01:00',
    'вторник, 14 януари 2025 г., 9:00',
    'Τρίτη, 14 Ιανουαρίου 2025 9:00 π.μ.',
    'úterý 14. ledna 2025 10:00 CET',
    '2025. január 14. 9:00',
    'mardi 14 janvier 2025 à 9h00',
    '2025年1月14日 星期二 上午9:00',
    '2025年1月14日(火) 9:00',
    '2025년 1월 14일 화요일 오전 9:00',
    '2025. 1. 14. 오전 9:00',
    'Tue, 14 Jan 2025 14:45:00 NPT',
    'Tue, 14 Jan 2025 09:00:00 IST',
    '  Tue,\t14 Jan\r\n 2025 10:00:00\t+0100 ',
  ])
    it(`reads ${JSON.stringify(written)}`, () => expect(readDate(written)?.toISOString()).to.equal(same));

  const others = {
    'Sun, 15 Mar 2026 23:59:60 +0000': '2026-03-16T00:00:00.000Z',
    'Sun, 15 Mar 2026': '2026-03-15T00:00:00.000Z',
    'su 29. marraskuuta 2026 klo 14.05': '2026-11-29T14:05:00.000Z',
    '2026年11月29日 下午2:05': '2026-11-29T14:05:00.000Z',
    '29 Kasım 2026 14:05': '2026-11-29T14:05:00.000Z',
    'mar 10 mars 2026 12:00:00 +0000': '2026-03-10T12:00:00.000Z',
    'Thu, 1 août 2024 12:00:00 +0000': '2024-08-01T12:00:00.000Z',
    'Fri, 31 Dec 1999 12:00 PM PST': '1999-12-31T20:00:00.000Z',
    '1 Jan 70 12:00 AM GMT': '1970-01-01T00:00:00.000Z',
    'Tue, 5 May 2026 10:00:00 +0530': '2026-05-05T04:30:00.000Z',
  };
  for (const [written, expected] of Object.entries(others)) it(`reads ${written}`, () => expect(readDate(written)?.toISOString()).to.equal(expected));

  for (const written of [
    '',
    'now',
    '2025',
    'Tue',
    '14 Foo 2025 10:00:00',
    '32 Jan 2025',
    '30 Feb 2025',
    '14 Jan 2025 24:00',
    '14 Jan 2025 10:60:00',
    '2025-13-01',
  ])
    it(`has none for ${JSON.stringify(written)}`, () => expect(readDate(written)).to.equal(null));

  it('does not depend on the time zone of the machine', () => {
    const before = process.env['TZ'];
    process.env['TZ'] = 'America/New_York';
    try {
      expect(readDate('Tue, 14 Jan 2025 09:00:00')?.toISOString()).to.equal(same);
    } finally {
      if (before === undefined) delete process.env['TZ'];
      else process.env['TZ'] = before;
    }
  });

  it('takes linear time', async () => {
    for (const part of ['(', '()', ' ', '1', 'Jan ', '1:', 'ä', '-']) await expectLinearTime((parts) => readDate(part.repeat(parts * 25_000)), part);
  });
});
