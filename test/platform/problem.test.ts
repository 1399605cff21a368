import { expect } from 'chai';
import { Common, Problem, problems, toDocument } from '../../services/platform/problem.ts';

const Notes = problems({
  noteMissing: { status: 404, title: 'No such note' },
  noteLocked: { status: 409, title: 'The note is locked', type: 'https://example.org/locked' },
});

describe('problems', () => {
  it('makes a kind with the type of its name', () => {
    expect(Notes.noteMissing).to.include({ status: 404, title: 'No such note', type: 'urn:signalbox:problem:note-missing' });
    expect(Notes.noteLocked.type).to.equal('https://example.org/locked');
  });

  it('makes errors whose message is the detail, or the title', () => {
    const problem = Notes.noteMissing({ detail: 'Note 7 is not there.' });
    expect(problem).to.be.instanceOf(Problem).and.to.be.instanceOf(Error);
    expect(problem).to.include({ message: 'Note 7 is not there.', status: 404 });
    expect(Notes.noteMissing().message).to.equal('No such note');
  });
});

describe('toDocument', () => {
  it('has type, title and status, and detail and further members where there are such', () => {
    expect(toDocument(Notes.noteMissing())).to.deep.equal({ type: 'urn:signalbox:problem:note-missing', title: 'No such note', status: 404 });
    expect(toDocument(Notes.noteLocked({ detail: 'd', lockedBy: 'somebody' }))).to.deep.equal({
      type: 'https://example.org/locked',
      title: 'The note is locked',
      status: 409,
      detail: 'd',
      lockedBy: 'somebody',
    });
  });

  it('leaves out the headers of the answer', () => {
    const problem = Common.tooMany({ headers: { 'Retry-After': '3' } });
    expect(problem.headers).to.deep.equal({ 'Retry-After': '3' });
    expect(toDocument(problem)).to.deep.equal({ type: 'about:blank', title: 'Too Many Requests', status: 429 });
  });
});
