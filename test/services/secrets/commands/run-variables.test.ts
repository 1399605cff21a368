import { expect } from 'chai';
import { readWanted, toVariables, variableOf } from '../../../../services/secrets/commands/run.ts';
import { isSafe } from '../../../../services/secrets/commands/unsafe-names.ts';

const entry = (key: string, value = 'x') => ({ key, value, label: 'local' });

describe('variableOf', () => {
  const names: readonly (readonly [key: string, variable: string])[] = [
    ['PLAIN', 'PLAIN'],
    ['lower_case1', 'lower_case1'],
    ['Logging:Level:Default', 'Logging__Level__Default'],
    ['a:b c', 'a__b_c'],
    ['connection-string', 'connection_string'],
    ['a.b/c', 'a_b_c'],
    ['1st', '_1st'],
    ['größe', 'gr__e'],
    ['key🔑', 'key_'],
    ['=', '_'],
  ];
  for (const [key, variable] of names) {
    it(`names '${key}' ${variable}`, () => expect(variableOf(key)).to.equal(variable));
  }
});

describe('readWanted', () => {
  it('names the variable as the rule does unless one is given', () => {
    expect(readWanted('db:password')).to.deep.equal({ name: 'db:password', variable: 'db__password' });
    expect(readWanted('db:password=PGPASSWORD')).to.deep.equal({ name: 'db:password', variable: 'PGPASSWORD' });
  });

  it('takes what follows the last = for the variable', () => {
    expect(readWanted('a=b=C')).to.deep.equal({ name: 'a=b', variable: 'C' });
  });

  for (const text of ['', '=A']) it(`refuses '${text}', which names no secret`, () => expect(() => readWanted(text)).to.throw(/the name of a secret/));

  for (const text of ['a=', 'a=1b', 'a=b c', 'a=b-c', 'a=ä']) {
    it(`refuses '${text}'`, () => expect(() => readWanted(text)).to.throw(/must be a name of letters, digits and _/));
  }
});

describe('toVariables', () => {
  it('puts configuration and secrets side by side', () => {
    expect(toVariables([entry('A:B', '1')], [{ name: 'c', variable: 'C', value: '2' }])).to.deep.equal({ A__B: '1', C: '2' });
  });

  it('refuses two entries that would be one variable, naming both', () => {
    expect(() => toVariables([entry('a:b'), entry('a__b')], [])).to.throw(
      "configuration entry 'a:b' and configuration entry 'a__b' would both be the variable a__b",
    );
  });

  it('refuses an entry and a secret that would be one variable', () => {
    const secret = { name: 'token', variable: 'TOKEN', value: 'x' };
    expect(() => toVariables([entry('TOKEN')], [secret])).to.throw("configuration entry 'TOKEN' and secret 'token' would both be the variable TOKEN");
  });

  it('refuses a value with a NUL character, without showing it', () => {
    const hidden = { name: 'token', variable: 'TOKEN', value: 'hid\0den' };
    expect(() => toVariables([], [hidden])).to.throw(/^secret 'token' holds a NUL character, which no variable can hold$/);
  });

  it('is not led astray by a key that objects have already', () => {
    expect(Object.entries(toVariables([entry('__proto__', '1'), entry('constructor', '2')], []))).to.deep.equal([
      ['__proto__', '1'],
      ['constructor', '2'],
    ]);
  });
});

describe('isSafe', () => {
  const later = [
    'GCONV_PATH',
    'OPENSSL_CONF',
    'PERL5LIB',
    'RUBYLIB',
    'CLASSPATH',
    'LUA_INIT',
    'JAVA_TOOL_OPTIONS',
    'DOTNET_STARTUP_HOOKS',
    'PROMPT_COMMAND',
    'PYTHONBREAKPOINT',
    'npm_config_script_shell',
    'CORECLR_PROFILER_PATH',
    'LUA_INIT_5_4',
    'KUBECONFIG',
    'PAGER',
  ];
  const others = [
    'HOME',
    'GLIBC_TUNABLES',
    'PSQL_PAGER',
    'SUDO_ASKPASS',
    'RSYNC_RSH',
    'RUSTC_WRAPPER',
    'ASPNETCORE_HOSTINGSTARTUPASSEMBLIES',
    'COMPlus_Profiler',
    'TS_NODE_REQUIRE',
    'R_PROFILE_USER',
    'QT_PLUGIN_PATH',
    'TF_CLI_CONFIG_FILE',
    'XDG_CONFIG_HOME',
    'PERL5SHELL',
    'DOTNET_StartupHooks',
    'npm_config_node_options',
  ];

  it('is false for variables by which the loader, a shell or a runtime runs code, in any case', () => {
    for (const name of [
      'PATH',
      'Path',
      'LD_PRELOAD',
      'DYLD_INSERT_LIBRARIES',
      'BASH_ENV',
      'NODE_OPTIONS',
      'PYTHONPATH',
      'GIT_SSH_COMMAND',
      ...later,
      ...others,
    ])
      expect(isSafe(name), name).to.equal(false);
    for (const name of [
      'PATHS',
      'APP_PATH',
      'OLD_KEY',
      'Logging__Level',
      'NODE_ENV',
      'ENVIRONMENT',
      'PYTHONUNBUFFERED',
      'ERL_CRASH_DUMP',
      'JAVA_HOME',
      'HOMEPAGE',
      'DATABASE_HOST',
      'EDITORS',
      'ANSWER_EDITION',
      'CC_LIST',
      'ENV_NAME',
    ])
      expect(isSafe(name), name).to.equal(true);
  });
});
