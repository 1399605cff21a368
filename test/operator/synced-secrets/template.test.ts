import { expect } from 'chai';
import { fill, parseTemplate, placeholdersOf, TemplateError } from '../../../services/operator/synced-secrets/template.ts';

const filled = (text: string) => fill(parseTemplate(text), ({ kind, name }) => `<${kind} ${name}>`);

describe('a template of a SyncedSecret', () => {
  for (const [text, expected] of [
    ['', ''],
    ['no placeholder', 'no placeholder'],
    ['a={{ secret password }}', 'a=<secret password>'],
    ['{{secret a}}{{configuration Http:Timeout}}', '<secret a><configuration Http:Timeout>'],
    ['{{ secret name with spaces }}\n', '<secret name with spaces>\n'],
    ['{ { secret a } }', '{ { secret a } }'],
    ['{"json": {"a": 1}}', '{"json": {"a": 1}}'],
    ['€ {{ secret a }} 😀', '€ <secret a> 😀'],
    ['$& {{ secret a }} $1', '$& <secret a> $1'],
  ] as const)
    it(`reads ${JSON.stringify(text)}`, () => expect(filled(text)).to.equal(expected));

  it('puts values in as they are, though they look like a placeholder', () => {
    expect(fill(parseTemplate('{{ secret a }}'), () => '{{ secret b }} $&')).to.equal('{{ secret b }} $&');
  });

  for (const [text, line] of [
    ['{{ secret }}', 1],
    ['a\n{{ secrets a }}', 2],
    ['a\n\n{{ .Values.a }}', 3],
    ['{{ secret a', 1],
    ['{{}}', 1],
    ['{{ secret {{ secret a }} }}', 1],
  ] as const)
    it(`refuses ${JSON.stringify(text)} by its line`, () => expect(() => parseTemplate(text)).to.throw(TemplateError, `line ${line}:`));

  it('takes a long text of braces in a time that does not explode', () => {
    expect(() => parseTemplate('{{ '.repeat(20_000))).to.throw(TemplateError);
    expect(placeholdersOf(parseTemplate('{{ secret a }}'.repeat(4000)))).to.have.length(4000);
  });
});
