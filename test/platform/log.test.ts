import { expect } from 'chai';
import { captureLog } from './captured-log.ts';

describe('createLog', () => {
  it('writes one JSON object a line with level, time, service and message', () => {
    const { log, text, lines } = captureLog();
    log.info({ port: 8080 }, 'listening');
    expect(text().endsWith('\n')).to.equal(true);
    expect(lines()).to.have.length(1);
    expect(lines()[0]).to.include({ level: 'info', service: 'test', port: 8080, msg: 'listening' });
    expect(lines()[0]?.['time']).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('leaves out lines below its level', () => {
    const { log, lines } = captureLog('warn');
    log.info('unheard');
    log.warn('heard');
    expect(lines().map(({ msg }) => msg)).to.deep.equal(['heard']);
  });

  it('cuts out credentials at the top, one level down, and in headers', () => {
    const { log, text } = captureLog();
    const headers = { authorization: 'Bearer hunter2', cookie: 'hunter2', 'x-api-key': 'hunter2', 'x-ingest-token': 'hunter2', 'x-source-token': 'hunter2' };
    log.info({ password: 'hunter2', token: 'hunter2', secret: 'hunter2', apiKey: 'hunter2', ...headers });
    log.info({ headers, request: { headers, token: 'hunter2' }, options: { password: 'hunter2', apiKey: 'hunter2' } });
    expect(text()).to.not.include('hunter2');
    expect(text().match(/\[hidden\]/g)).to.have.length(9 + 5 + 5 + 1 + 2);
  });

  it('cuts out what an error of Postgres quotes of rows and parameters', () => {
    const { log, text } = captureLog();
    const quoting = { detail: 'Failing row contains (hunter2).', where: "unnamed portal parameter $1 = 'hunter2'", internalQuery: 'select hunter2' };
    log.error({ error: Object.assign(new Error('refused'), quoting) }, 'failed');
    expect(text()).to.not.include('hunter2');
  });

  it('cuts out the connection that the driver of Postgres hangs on an error', () => {
    const { log, text } = captureLog();
    log.warn({ error: Object.assign(new Error('lost'), { client: { secretKey: 'hunter2' } }) }, 'an idle connection was lost');
    expect(text()).to.not.include('hunter2');
  });

  it('cuts them out of errors, too, and keeps their message, stack and cause', () => {
    const { log, text, lines } = captureLog();
    const cause = new Error('the cause');
    log.error({ error: Object.assign(new Error('refused', { cause }), { headers: { authorization: 'hunter2' }, password: 'hunter2' }) }, 'failed');
    expect(text()).to.not.include('hunter2');
    expect(lines()[0]?.['error'])
      .to.include({ type: 'Error' })
      .and.to.have.property('message')
      .that.matches(/^refused/);
    expect(text()).to.include('the cause').and.to.include('log.test.ts');
  });
});
