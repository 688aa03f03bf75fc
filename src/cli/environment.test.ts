// Where settings come from, in which order, and what is said of those that are none.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ConfigError } from '../app/config.ts'
import { takeConfig } from './environment.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-env-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function take(file: string | null, env: Record<string, string> = {}, options = {}) {
  await rm(join(folder, '.env'), { recursive: true, force: true })
  if (file !== null) await writeFile(join(folder, '.env'), file)
  const told: string[] = []
  const config = takeConfig(options, { folder, env, tell: (line) => told.push(line) })
  return { config, env, told }
}

describe('order', () => {
  test('without a file the environment alone counts', async () => {
    expect((await take(null, { PORT: '7001' })).config).toMatchObject({ PORT: 7001, HOST: '127.0.0.1' })
  })

  test('options win over the environment, which wins over the file', async () => {
    const file = "PORT=7001\nHOST=0.0.0.0\nDATA_DIR=/from/file\nMAIL_FROM='Me <me@example.com>' # quoted\n"
    const { config } = await take(file, { PORT: '7002', HOST: '::1' }, { PORT: '7003' })
    expect(config).toMatchObject({
      PORT: 7003,
      HOST: '::1',
      DATA_DIR: '/from/file',
      MAIL_FROM: 'Me <me@example.com>',
    })
  })

  test('an empty variable of the environment switches the line of the file off', async () => {
    const { config } = await take('SMTP_URL=smtp://mail.example:25\nPORT=7001\n', { SMTP_URL: '' })
    expect(config).toMatchObject({ SMTP_URL: null, PORT: 7001 })
  })

  test('faults of the file are faults like others; a file that cannot be read is one', async () => {
    await expect(take('PORT=high\n')).rejects.toThrow('  PORT=high: must be a port number')
    await rm(join(folder, '.env'))
    const tell = () => undefined
    const beside = join(folder, 'file')
    await writeFile(beside, '')
    expect(() => takeConfig({}, { folder: beside, env: {}, tell })).toThrow(ConfigError)
    expect(() => takeConfig({}, { folder: beside, env: {}, tell })).toThrow(
      /\.env cannot be read \(ENOTDIR\)/,
    )
  })
})

test('secrets are taken out of the environment, and what is not ours stays', async () => {
  const { env, config } = await take(null, {
    SECRET_KEY: 's'.repeat(32),
    GITHUB_TOKEN: 'ghp_secret',
    PATH: '/bin',
    PORT: '1',
  })
  expect(config).toMatchObject({ SECRET_KEY: 's'.repeat(32), GITHUB_TOKEN: 'ghp_secret' })
  expect(env).toEqual({ PATH: '/bin', PORT: '1' })
})

describe('names that look like a setting', () => {
  test.each([
    ['DATA_DR', 'DATA_DIR'],
    ['DATADIR', 'DATA_DIR'],
    ['data_dir', 'DATA_DIR'],
    ['LONGSHORE_PORT', 'PORT'],
    ['POSTHOG_SITE_URL', 'SITE_URL'],
    ['PROT', 'PORT'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['DATABSE_URL', 'DATABASE_URL'],
    ['SMPT_URL', 'SMTP_URL'],
    ['BOOTSTRAP_PASWORD', 'BOOTSTRAP_PASSWORD'],
    ['TRUSTED_PROXY', null],
    ['PLUGIN_THREAD', 'PLUGIN_THREADS'],
  ])('%s: %s', async (name, meant) => {
    const said = meant === null ? [] : [`${name} is not a setting: did you mean ${meant}?`]
    expect((await take(null, { [name]: 'secret-value' })).told).toEqual(said)
    expect((await take(`${name}=secret-value\n`)).told).toEqual(said)
  })

  test('what every machine has is not one of them', async () => {
    const usual =
      'HOME HOSTNAME PATH PWD LOGNAME LANG SHELL TERM USER SHLVL TZ EDITOR PAGER MAIL LS_COLORS SSH_TTY NODE_ENV NODE_OPTIONS PGHOST PGPORT HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy XDG_DATA_DIRS XDG_DATA_HOME TMPDIR GH_TOKEN CI DEBUG npm_config_cache INIT_CWD LISTEN_PID INVOCATION_ID JOURNAL_STREAM STATE_DIRECTORY'
    const env = Object.fromEntries(usual.split(' ').map((name) => [name, '1']))
    expect((await take(null, env)).told).toEqual([])
  })
})
