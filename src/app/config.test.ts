// Settings: what can be used, what cannot, and that a report never shows a secret.
import { describe, expect, test } from 'vitest'
import { ConfigError, readConfig } from './config.ts'

describe('defaults', () => {
  test('none is needed, and an empty one counts as not given', () => {
    const config = readConfig({ PORT: '', DATABASE_URL: '', RATE_LIMITS: '', SECRET_KEY: '', LOG_FORMAT: '' })
    expect(config).toEqual(readConfig({}))
    expect(config).toMatchObject({
      HOST: '127.0.0.1',
      PORT: 8000,
      SITE_URL: null,
      DATA_DIR: `${process.cwd()}/data`,
      DATABASE_URL: null,
      SMTP_URL: null,
      DNS_SERVERS: [],
      OUTBOUND_ALLOW: [],
      RATE_LIMITS: true,
      OPEN_SIGNUP: false,
      LOG_LEVEL: 'info',
    })
    expect(config.LOG_FORMAT).toBeUndefined()
    expect(Object.isFrozen(config)).toBe(true)
  })
})

describe('values that can be used', () => {
  test.each([
    ['PORT', '0', 0],
    ['SITE_URL', 'https://longshore.example', 'https://longshore.example'],
    [
      'DATABASE_URL',
      'postgresql://user:p%40ss@db.example:6432/longshore',
      'postgresql://user:p%40ss@db.example:6432/longshore',
    ],
    [
      'DATABASE_URL',
      'postgres://user@/longshore?host=/run/postgresql',
      'postgres://user@/longshore?host=/run/postgresql',
    ],
    ['BOOTSTRAP_EMAIL', ' Ada@Example.COM ', 'Ada@example.com'],
    ['BOOTSTRAP_API_KEY', `phx_${'a'.repeat(32)}`, `phx_${'a'.repeat(32)}`],
    ['SMTP_URL', 'smtps://user:secret@mail.example:465', 'smtps://user:secret@mail.example:465'],
    ['MAIL_FROM', 'mail@example.com', 'mail@example.com'],
    ['DNS_SERVERS', '127.0.0.1:53, 9.9.9.9 [::1]:5353,::1', ['127.0.0.1:53', '9.9.9.9', '[::1]:5353', '::1']],
    ['OUTBOUND_ALLOW', '10.0.0.0/8 minio.internal', ['10.0.0.0/8', 'minio.internal']],
    ['TRUSTED_PROXIES', 'loopback,10.0.0.0/8 fd00::1', ['loopback', '10.0.0.0/8', 'fd00::1']],
    ['OPEN_SIGNUP', 'on', true],
  ])('%s=%s', (name, value, read) => {
    expect(readConfig({ [name]: value })).toHaveProperty(name, read)
  })
})

describe('values that cannot', () => {
  test.each([
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '80.5'],
    ['PORT', 'http'],
    ['SITE_URL', 'longshore.example'],
    ['SITE_URL', 'ftp://longshore.example'],
    ['SITE_URL', 'https://longshore.example/below'],
    ['DATABASE_URL', 'mysql://db.example/longshore'],
    ['DATABASE_URL', 'postgres://db.example:99999/longshore'],
    ['CLICKHOUSE_CLUSTER', "a'b"],
    ['SECRET_KEY', 'k'.repeat(31)],
    ['BOOTSTRAP_EMAIL', 'nobody'],
    ['BOOTSTRAP_PASSWORD', 'seven77'],
    ['BOOTSTRAP_API_KEY', `phx_${'a'.repeat(31)}`],
    ['BOOTSTRAP_API_KEY', `phs_${'a'.repeat(40)}`],
    ['SMTP_URL', 'mail.example:25'],
    ['SMTP_URL', 'smtp://user:100%secret@mail.example'],
    ['MAIL_FROM', 'Postmaster'],
    ['MAIL_FROM', 'a@example.com, b@example.com'],
    ['DNS_SERVERS', 'dns.example'],
    ['DNS_SERVERS', '127.0.0.1:0'],
    ['DNS_SERVERS', '127.0.0.1:65536'],
    ['DNS_SERVERS', '127.0.0.1 and others'],
    ['DOMAIN_CHALLENGE_PREFIX', 'two.labels'],
    ['OUTBOUND_ALLOW', '10.0.0.0/33'],
    ['TRUSTED_PROXIES', '10.0.0.0/33'],
    ['TRUSTED_PROXIES', 'proxy.example'],
    ['MAX_KEYS_PER_USER', '-5'],
    ['MAX_KEYS_PER_USER', '2.5'],
    ['RATE_LIMITS', 'true'],
    ['OPEN_SIGNUP', 'yes'],
    ['LOG_LEVEL', 'verbose'],
    ['LOG_FORMAT', 'xml'],
  ])('%s=%s is named, with the rule, and with the value unless it is a secret', (name, value) => {
    const message = faultsOf({ [name]: value })
    const isSecret = /URL|KEY$|PASSWORD|TOKEN/.test(name) && name !== 'SITE_URL'
    const [head, fault, ...more] = message.split('\n')
    expect([head, more]).toEqual(['These settings cannot be used:', []])
    if (isSecret) expect(message).not.toContain(value)
    expect(fault?.startsWith(`  ${isSecret ? name : `${name}=${value}`}: must `), fault).toBe(true)
  })

  test('an address is shown without its password, a long value cut', () => {
    const message = faultsOf({ SITE_URL: 'ftp://me:hidden/@word@host/', LOG_LEVEL: 'l'.repeat(5_000) })
    expect(message).toContain('  SITE_URL=ftp://***@host/: must be')
    expect(message).not.toContain('hidden')
    expect(message.length).toBeLessThan(1_000)
  })

  test.each(['GOOGLE_OAUTH2', 'GITHUB', 'GITLAB'])('half of what %s needs: both are named', (provider) => {
    const [key, secret] = [`SOCIAL_AUTH_${provider}_KEY`, `SOCIAL_AUTH_${provider}_SECRET`]
    expect(
      faultsOf({ [key]: 'client', PORT: 'http' })
        .split('\n')
        .slice(1),
    ).toEqual(['  PORT=http: must be a port number', `  ${key}=client: needs ${secret} beside it`])
    expect(faultsOf({ [secret]: 'kept to us', [key]: '' })).toBe(
      `These settings cannot be used:\n  ${secret}: needs ${key} beside it`,
    )
    expect(readConfig({ [key]: 'client', [secret]: 'kept to us' })).toHaveProperty(key, 'client')
  })

  test('several are reported together, each once', () => {
    expect(faultsOf({ PORT: '99999.5', LOG_LEVEL: 'loud', HOST: 'kept' }).split('\n').slice(1)).toEqual([
      '  PORT=99999.5: must be a port number',
      '  LOG_LEVEL=loud: must be one of fatal, error, warn, info, debug, trace, silent',
    ])
  })
})

function faultsOf(env: Record<string, string>): string {
  try {
    readConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
  }
  throw new Error('the settings were taken')
}

describe('settings that need each other', () => {
  test('ClickHouse and a PostgreSQL outside of the data folder', () => {
    const CLICKHOUSE_URL = 'https://user:secret@clickhouse.example:8443/events'
    expect(() => readConfig({ CLICKHOUSE_URL })).toThrow('CLICKHOUSE_URL: needs DATABASE_URL beside it')
    const DATABASE_URL = 'postgres://db.example/longshore'
    const unknown = { CLICKHOUSE_URL: 'clickhouse://db.example/longshore', DATABASE_URL }
    expect(() => readConfig(unknown)).toThrow('CLICKHOUSE_URL: must look like http://')
    const both = { CLICKHOUSE_URL, DATABASE_URL }
    expect(readConfig(both)).toMatchObject({ ...both, CLICKHOUSE_CLUSTER: null })
  })
})

describe('roles', () => {
  const shared = {
    DATABASE_URL: 'postgres://db.example/longshore',
    CLICKHOUSE_URL: 'http://clickhouse.example:8123',
    SECRET_KEY: 'k'.repeat(32),
  }
  const SITE_URL = 'https://longshore.example'

  test('all of them unless told, and then nothing else is needed', () => {
    expect(readConfig({}).ROLES).toEqual(['api', 'capture', 'worker', 'plugins'])
    expect(readConfig({ ROLES: 'plugins,worker capture, api,api' }).ROLES).toEqual(readConfig({}).ROLES)
  })

  test('some of them need stores that all processes reach, and a public address where links are made', () => {
    expect(readConfig({ ...shared, ROLES: 'capture' }).ROLES).toEqual(['capture'])
    expect(readConfig({ ...shared, SITE_URL, ROLES: 'worker,api' }).ROLES).toEqual(['api', 'worker'])
    expect(faultsOf({ ROLES: 'capture' }).split('\n').slice(1)).toEqual(
      ['DATABASE_URL', 'CLICKHOUSE_URL', 'SECRET_KEY'].map(
        (name) => `  ROLES=capture: a process that does not have all roles needs ${name}`,
      ),
    )
    for (const ROLES of ['api', 'worker', 'plugins'])
      expect(faultsOf({ ...shared, ROLES })).toContain(
        'a process that does not have all roles needs SITE_URL',
      )
  })

  test('a wrong one is answered with the four', () => {
    expect(faultsOf({ ROLES: 'api,web' })).toContain(
      'ROLES=api,web: must be a list of api, capture, worker, plugins',
    )
  })
})
