// The command line from outside: each command alone and beside a running server, and what it says when it cannot.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, readdir, symlink, utimes } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { VERSION } from '../../src/app/version.ts'
import { startDnsServer, type DnsStandIn } from '../stand-ins/dns.ts'
import { startSmtpServer } from '../stand-ins/smtp.ts'
import { readFirstStart } from './first-start.ts'
import { get, post } from './http.ts'
import {
  buildProgram,
  connectionOf,
  postmasterOf,
  type Ended,
  type Env,
  type Program,
  type Running,
} from './program.ts'

const COMMANDS = ['serve', 'migrate', 'create-user', 'create-key', 'check-queries', 'doctor', 'events']

let program: Program
let dns: DnsStandIn
beforeAll(async () => {
  program = await buildProgram()
  dns = await startDnsServer()
})
afterAll(async () => {
  await program.remove()
  await dns.close()
})

describe('help', () => {
  test('--help lists every command with what it does', async () => {
    const { code, stdout } = await program.run(['--help'])
    expect(code).toBe(0)
    for (const command of COMMANDS) expect(stdout).toMatch(new RegExp(`^ {2}${command} .*\\w{3,}`, 'm'))
    expect(stdout).toContain('Settings come from the environment')
  })

  test('a command that does not exist is named', async () => {
    const { code, stdout, stderr } = await program.run(['destroy'])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/unknown command 'destroy'/)
  })
})

describe('in a checkout', () => {
  test('the first command builds, two at once do not disturb each other, later ones build only what changed', async () => {
    const checkout = program.newDataDir()
    for (const part of ['bin', 'scripts', 'src', 'types', 'web', 'package.json', 'tsconfig.json']) {
      await cp(part, join(checkout, part), { recursive: true })
    }
    await symlink(resolve('node_modules'), join(checkout, 'node_modules'))
    const version = async () => {
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [
        join(checkout, 'bin/longshore.cjs'),
        '--version',
      ])
      return { version: stdout.trim(), isBuilding: stderr.includes('building') }
    }
    expect(await Promise.all([version(), version()])).toEqual([
      { version: VERSION, isBuilding: true },
      { version: VERSION, isBuilding: true },
    ])
    expect(await version()).toEqual({ version: VERSION, isBuilding: false })
    for (const changed of ['src/main.ts', 'types/app.d.ts', 'package.json']) {
      const [long_ago, later] = [new Date(0), new Date(Date.now() + 1000)]
      await utimes(join(checkout, changed), later, later)
      expect(await version()).toEqual({ version: VERSION, isBuilding: true })
      await utimes(join(checkout, changed), long_ago, long_ago)
      expect(await version()).toEqual({ version: VERSION, isBuilding: false })
    }
    expect((await readdir(checkout)).sort()).toEqual([
      'bin',
      'dist',
      'node_modules',
      'package.json',
      'scripts',
      'src',
      'tsconfig.json',
      'types',
      'web',
    ])
  })
})

describe('settings that cannot be used', () => {
  const faulty: Env = {
    PORT: '99999',
    SITE_URL: 'wrong site',
    DATABASE_URL: 'mysql://root:planted-database-password@db/longshore',
    SECRET_KEY: 'planted-and-too-short',
    BOOTSTRAP_EMAIL: 'wrong',
    BOOTSTRAP_PASSWORD: 'planted',
    BOOTSTRAP_API_KEY: 'phx_planted',
    SMTP_URL: 'http://mailer:planted-mail-password@mail',
    MAIL_FROM: 'wrong',
    DNS_SERVERS: '127.0.0.1:0',
    DOMAIN_CHALLENGE_PREFIX: 'wrong.challenge',
    OUTBOUND_ALLOW: 'wrong/wrong',
    TRUSTED_PROXIES: 'wrong',
    MAX_KEYS_PER_USER: '0',
    RATE_LIMITS: 'wrong',
    OPEN_SIGNUP: 'wrong',
    LOG_LEVEL: 'wrong',
    LOG_FORMAT: 'wrong',
  }

  test.each([['serve'], ['migrate'], ['doctor'], ['create-key', '--email', 'a@example.com']])(
    '%s names all of them at once, with their values, and shows no secret',
    async (...args) => {
      const { code, stdout, stderr } = await program.run(args, { ...faulty, DATA_DIR: program.newDataDir() })
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      const [heading, ...faults] = stderr.trimEnd().split('\n')
      expect(heading).toBe(`longshore ${args[0]}: These settings cannot be used:`)
      const named = faults.map((line) => /^ {2}(\w+)(?:=(.+?))?: must .{5,}/.exec(line) ?? [])
      expect(named.map(([, name]) => name)).toEqual(Object.keys(faulty))
      for (const [, name, value] of named) if (value !== undefined) expect(value).toBe(faulty[name!])
      expect(stderr).not.toContain('planted')
    },
  )

  test('a database that does not let us in: one line without the password', async () => {
    const secret = 'planted-database-password'
    const env = {
      DATA_DIR: program.newDataDir(),
      DATABASE_URL: `postgres://longshore:${secret}@localhost:1/longshore`,
    }
    const { code, stdout, stderr } = await program.run(['serve'], env)
    expect(code).toBe(1)
    expect(stderr).toMatch(/^longshore serve: .*ECONNREFUSED.*\n$/)
    expect(stdout + stderr).not.toContain(secret)
  })
})

describe('alone', () => {
  const env = () => ({ DATA_DIR: dataDir, DNS_SERVERS: dns.address })
  let dataDir: string
  let key: string

  beforeAll(() => {
    dataDir = program.newDataDir()
  })

  test.each([
    ['create-key', '--email', 'ada@example.com'],
    ['create-user', '--email', 'ada@example.com'],
    ['events', 'generate', '--count', '1'],
    ['events', 'move', '--forget'],
    ['export', '018e1a2b-0000-4000-8000-000000000000'],
    ['verify'],
  ])('%s %s in a folder without an installation: says so, and makes none', async (...args) => {
    const ended = await program.run(args, env())
    expect(ended).toMatchObject({ code: 1, stdout: '' })
    expect(ended.stderr).toMatch(
      /^longshore [^\n]+ holds no installation: set DATA_DIR [^\n]+ DATABASE_URL [^\n]+\n$/,
    )
    expect(ended.stderr).toContain(`DATA_DIR=${dataDir}`)
    expect(existsSync(dataDir)).toBe(false)
  })

  test('doctor on an empty folder: notes what the first start will do', async () => {
    const ended = await program.run(['doctor', '--json'], env())
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(ended.stdout)).toMatchObject([
      { what: 'settings', state: 'ok' },
      { what: 'data folder', state: 'note', detail: `${dataDir} holds no installation (DATA_DIR)` },
      { what: 'database', state: 'note' },
      { what: 'events', state: 'note' },
      { what: 'mail', state: 'note', detail: expect.stringContaining('SMTP_URL') },
      { what: 'DNS', state: 'ok' },
    ])
    expect(existsSync(dataDir)).toBe(false)
  })

  test('migrate: applies what is due, and then nothing', async () => {
    const first = await program.run(['migrate'], env())
    expect(first).toMatchObject({ code: 0, stderr: '' })
    expect(first.stdout).toMatch(/^(applied \d{4}_\w+\.sql\n)+$/)
    const second = await program.run(['migrate'], env())
    expect(second).toEqual({ code: 0, stderr: '', stdout: 'nothing to do, the database is up to date\n' })
    await expectNothingLeft(dataDir)
  })

  test('create-user: an account with an organization of its own; create-key: its key and nothing else', async () => {
    const user = await program.run(
      ['create-user', '--email', 'Ada@Example.com', '--first-name', 'Ada', '--staff'],
      env(),
    )
    expect(user).toMatchObject({ code: 0, stderr: '' })
    const password = /^made Ada@example\.com\npassword: (\S{16,})\n$/.exec(user.stdout)?.[1]
    const made = await program.run(['create-key', '--email', 'ada@example.com'], env())
    expect(made).toMatchObject({ code: 0, stderr: '' })
    expect(made.stdout).toMatch(/^phx_\w+\n$/)
    key = made.stdout.trim()
    await expectNothingLeft(dataDir)

    const server = program.serve({ DATA_DIR: dataDir })
    const url = await server.url
    expect(server.stdout()).not.toMatch(/phx_|Password/)
    expect((await get(`${url}/api/users/@me/`, key)).body).toMatchObject({
      email: 'Ada@example.com',
      first_name: 'Ada',
      is_staff: true,
    })
    const { body } = await get(`${url}/api/organizations/`, key)
    expect(body.results).toMatchObject([
      { name: "Ada's Organization", membership_level: 15, teams: [{ name: 'Default project' }] },
    ])
    expect((await post(`${url}/api/login/`, { email: 'ada@example.com', password })).status).toBe(200)
    const log = await get(
      `${url}/api/organizations/${body.results[0].id}/activity_log/?scope=PersonalAPIKey`,
      key,
    )
    expect(log.body.results).toMatchObject([
      { activity: 'created', is_system: true, detail: { name: expect.stringContaining('phx_...') } },
    ])
    server.kill('SIGTERM')
    expect((await server.ended).code).toBe(0)
  })

  test('doctor: an entry of the activity log that was altered', async () => {
    // The server is gone; a command keeps PostgreSQL up only while it runs, so the change is made under a new server.
    const server = program.serve({ DATA_DIR: dataDir })
    await server.url
    await onDatabase(
      dataDir,
      `UPDATE activity_log SET detail = jsonb_set(detail, '{name}', '"forged"') WHERE scope = 'PersonalAPIKey'`,
    )
    const ended = await program.run(['doctor'], env())
    expect(ended.code).toBe(1)
    expect(ended.stdout).toMatch(/^WRONG {2}activity log +entry [0-9a-f-]{36} was altered/m)
    server.kill('SIGTERM')
    await server.ended
  })
})

describe('beside a running server', () => {
  let dataDir: string
  let server: Running
  let url: string
  let owner: string
  let postgres: number | null

  beforeAll(async () => {
    dataDir = program.newDataDir()
    server = program.serve({ DATA_DIR: dataDir })
    const printed = await readFirstStart(server)
    url = printed.url
    owner = printed.key
    postgres = await postmasterOf(dataDir)
  })

  const run = (args: string[], env: Env = {}): Promise<Ended> =>
    program.run(args, { DATA_DIR: dataDir, DNS_SERVERS: dns.address, ...env })

  async function expectUnharmed() {
    expect(await postmasterOf(dataDir)).toBe(postgres)
    expect((await get(`${url}/api/users/@me/`, owner)).status).toBe(200)
    expect((await get(`${url}/_readyz`)).status).toBe(200)
  }

  test('migrate', async () => {
    expect(await run(['migrate'])).toEqual({
      code: 0,
      stderr: '',
      stdout: 'nothing to do, the database is up to date\n',
    })
    await expectUnharmed()
  })

  test('create-user into an organization, and a limited key for it: both usable at once', async () => {
    const password = 'chosen-on-the-command-line-3'
    const address = ['--email', 'grace@example.com']
    const user = await run([
      'create-user',
      ...address,
      '--password',
      password,
      '--organization',
      'my-organization',
      '--level',
      'admin',
    ])
    expect(user).toEqual({ code: 0, stderr: '', stdout: 'made grace@example.com\n' })
    expect((await post(`${url}/api/login/`, { email: 'grace@example.com', password })).status).toBe(200)
    const { body } = await get(`${url}/api/organizations/@current/members/`, owner)
    expect(body.results[0]).toMatchObject({ level: 8, user: { email: 'grace@example.com' } })
    const log = await get(
      `${url}/api/organizations/@current/activity_log/?scope=OrganizationMembership`,
      owner,
    )
    expect(log.body.results[0]).toMatchObject({
      activity: 'created',
      is_system: true,
      detail: { name: 'grace@example.com' },
    })

    const made = await run([
      'create-key',
      ...address,
      '--label',
      'backup job',
      '--scopes',
      'organization:read',
      'project:read,user:read',
    ])
    const key = made.stdout.trim()
    expect((await get(`${url}/api/personal_api_keys/@current/`, key)).body).toMatchObject({
      label: 'backup job',
      scopes: ['organization:read', 'project:read', 'user:read'],
    })
    expect((await post(`${url}/api/organizations/`, { name: 'No' }, { key })).status).toBe(403)
    await expectUnharmed()
  })

  test('doctor with mail and DNS that work', async () => {
    const smtp = await startSmtpServer({ auth: { user: 'mailer', pass: 'right-mail-password' } })
    const ended = await run(['doctor'], { SMTP_URL: smtp.url })
    await smtp.close()
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(ended.stdout.trimEnd().split('\n')).toHaveLength(8)
    expect(ended.stdout.split('\n').filter((line) => line !== '' && !line.startsWith('ok   '))).toEqual([])
    await expectUnharmed()
  })

  test('doctor with mail and DNS that do not: says what to look at, without the password, exit 1', async () => {
    const smtp = await startSmtpServer({ auth: { user: 'mailer', pass: 'right-mail-password' } })
    const gone = await startDnsServer()
    await gone.close()
    const ended = await run(['doctor'], {
      SMTP_URL: `smtp://mailer:wrong-mail-password@127.0.0.1:${smtp.port}`,
      DNS_SERVERS: gone.address,
    })
    await smtp.close()
    expect(ended.code).toBe(1)
    expect(ended.stdout).toMatch(/^WRONG {2}mail .*535.*\(SMTP_URL\)$/m)
    expect(ended.stdout).toMatch(/^WRONG {2}DNS .*\(DNS_SERVERS\)$/m)
    expect(ended.stdout).toMatch(/^ok {5}database /m)
    expect(ended.stdout + ended.stderr).not.toContain('wrong-mail-password')
    await expectUnharmed()
  })

  const ADDRESS = ['--email', 'new@example.com']
  test.each([
    [['create-user'], /required option '--email/],
    [['create-user', '--email', 'nobody'], /--email is not an e-mail address/],
    [['create-user', '--email', 'owner@longshore.local'], /there is an account with this address already/],
    [['create-user', ...ADDRESS, '--password', 'short'], /password: .*at least 8/],
    [['create-user', ...ADDRESS, '--password', 'password123'], /password: .*too easy to guess/],
    [['create-user', ...ADDRESS, '--level', 'toString'], /--level takes member, admin or owner/],
    [['create-user', ...ADDRESS, '--first-name', ' '], /--first-name takes 1 to 128 characters/],
    [['create-user', ...ADDRESS, '--organization', 'nowhere'], /no organization with the slug nowhere/],
    [['create-user', ...ADDRESS, '--colour', 'red'], /unknown option '--colour'/],
    [['create-key'], /required option '--email/],
    [['create-key', '--email', 'nobody@example.com'], /there is no account with this address/],
    [
      ['create-key', '--email', 'owner@longshore.local', '--scopes', 'everything:read'],
      /not a scope: everything:read/,
    ],
    [['create-key', '--email', 'owner@longshore.local', '--label', ''], /--label takes 1 to 40 characters/],
  ])('%j: one line, exit 1, nothing made', async (args, message) => {
    const { code, stdout, stderr } = await run(args)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^[^\n]+\n$/)
    expect(stderr).toMatch(message)
    const made = await onDatabase(
      dataDir,
      `SELECT FROM app_user WHERE email = 'new@example.com' OR first_name = ''`,
    )
    expect(made.rowCount).toBe(0)
  })

  test('after all that the server stops in order', async () => {
    await expectUnharmed()
    server.kill('SIGTERM')
    expect(await server.ended).toMatchObject({ code: 0, stderr: '' })
    await expectNothingLeft(dataDir)
  })
})

async function onDatabase(dataDir: string, sql: string): Promise<pg.QueryResult> {
  const client = new pg.Client(connectionOf(dataDir))
  await client.connect()
  try {
    return await client.query(sql)
  } finally {
    await client.end()
  }
}

/** A command that started PostgreSQL has stopped it again, and left no half-made folder. */
async function expectNothingLeft(dataDir: string): Promise<void> {
  expect(await postmasterOf(dataDir)).toBeNull()
  expect((await readdir(dataDir)).filter((name) => name.startsWith('postgres.init'))).toEqual([])
}
