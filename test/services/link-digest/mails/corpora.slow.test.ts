// The mail corpora of Debian packages, as their parsers' authors collected them: each is read, stored, and looked at for a listing.
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect } from 'chai';
import { toMail } from '../../../../services/link-digest/ingest/queue.ts';
import { createNewsletterReader } from '../../../../services/link-digest/mails/reader.ts';
import { readWorkerConfig } from '../../../../services/listings/config.ts';
import { createBoundedParser } from '../../../../services/listings/mails/bounded-parser.ts';
import { describeWith } from '../../../support/need.ts';
import { useDatabase } from '../store.ts';

/** Mails of Debian packages, and a text without a header in each; the folder of Python has its version in its name. */
const corpora = [
  { package: 'golang-github-jhillyerd-enmime-dev', files: '/usr/share/gocode/src/github.com/jhillyerd/enmime/**/*.raw', least: 70, noMail: 'erroneous.raw' },
  { package: 'libpython3.*-testsuite', files: '/usr/lib/python3.*/test/test_email/data/msg_*.txt', least: 40, noMail: 'msg_19.txt' },
];

for (const corpus of corpora) {
  const files = globSync(corpus.files);
  const missing = files.length === 0 ? `no mails of the package ${corpus.package}` : undefined;
  describeWith({ name: `Mail corpus ${corpus.package}`, missing }, `the mails of ${corpus.package}`, function () {
    this.timeout(240_000);
    const database = useDatabase();

    it('are all parsed and stored as newsletters, but for the text that is no mail', async () => {
      expect(files).to.have.length.of.at.least(corpus.least);
      const read = createNewsletterReader();
      const others: string[] = [];
      for (const file of files) {
        // Two packages, or two tests of one, may have the same bytes.
        const mail = toMail(readFileSync(file), new Date());
        const parsed = await read(mail);
        if (parsed.kind === 'parsed') await database.newsletters.store(mail, parsed.value);
        else others.push(`${basename(file)}: ${parsed.reason}`);
      }
      expect(others).to.deep.equal([`${corpus.noMail}: it has no header, so it is no mail`]);
      const distinct = new Set(files.map((file) => toMail(readFileSync(file), new Date()).sha256.toString('hex')));
      expect(await database.query('select count(*)::int as stored from newsletters where rejection is null')).to.deep.equal([{ stored: distinct.size - 1 }]);
    });

    it('hold no listing, and none of them fails', async () => {
      const { linkPattern } = readWorkerConfig({ DATABASE_URL: 'postgres://nobody/nothing' });
      const parse = createBoundedParser(linkPattern);
      for (const file of files) expect(await parse(readFileSync(file)), file).to.deep.equal({ kind: 'ignored', reason: 'no listing link' });
    });
  });
}
