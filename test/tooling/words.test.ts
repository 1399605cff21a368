import { expect } from 'chai';
import { sentenceFaults } from '../../scripts/lint/words.ts';

const found = (text: string) => sentenceFaults(text).map(({ message }) => message.split(': ')[0]);

describe('npm run words', () => {
  it('finds words, and sentences without a subject', () => {
    expect(found('Of the relay. It is told by whoever asks.')).to.deep.equal(['a sentence begins with "Of"', '"is told"', '"whoever"']);
    expect(found('Errors.\n\nThose of the world: one opaque 500.')).to.deep.equal(['a sentence begins with "Those"']);
  });

  it('passes questions, code and words within words', () => {
    expect(found('What does it cost? The user `nobody` owns it. An offer is outstanding.')).to.deep.equal([]);
  });
});
