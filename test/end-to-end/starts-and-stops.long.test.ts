// Other starts and stops from outside: settings that change them, and moments that are not the right ones.
import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdir, readdir, stat } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Secret, TOTP } from 'otpauth'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { until } from '../harness/until.ts'
import { readFirstStart } from './first-start.ts'
import { get, post, request, signIn } from './http.ts'
import { environmentOf, treeOf } from './processes.ts'
import { buildProgram, connectionOf, postmasterOf, type Program } from './program.ts'

const isLinux = process.platform === 'linux'
const CLEAN_END = { code: 0, stderr: '' }
/** All that PostgreSQL and the processes that answer queries see of the environment. */
const HARMLESS = [
  'PATH',
  'LC_ALL',
  'LD_LIBRARY_PATH',
  'PWD',
  'NODE_CHANNEL_FD',
  'NODE_CHANNEL_SERIALIZATION_MODE',
]

let program: Program
beforeAll(async () => {
  program = await buildProgram()
})
afterAll(() => program.remove())

// Two at once: one of them waits for most of its time.
describe.concurrent('stopping', { timeout: 60_000 }, () => {
  test('SIGTERM during the start: stops once it can, exit 0, no PostgreSQL is left', async () => {
    const dataDir = program.newDataDir()
    const server = program.serve({ DATA_DIR: dataDir })
    await until(() => expect(server.stdout()).toContain('starting PostgreSQL'))
    server.kill('SIGTERM')
    server.kill('SIGTERM')
    expect(await server.ended).toMatchObject(CLEAN_END)
    expect(await postmasterOf(dataDir)).toBeNull()
  })

  test('a request that does not end is cut off after ten seconds', async () => {
    const dataDir = program.newDataDir()
    const server = program.serve({ DATA_DIR: dataDir })
    const { url, key } = await readFirstStart(server)
    const blocker = new pg.Client(connectionOf(dataDir))
    blocker.on('error', () => undefined)
    await blocker.connect()
    await blocker.query('BEGIN; LOCK TABLE organization')
    const stuck = post(`${url}/api/organizations/`, { name: 'Never made' }, { key }).then(
      (answer) => answer.status,
      () => 'cut off',
    )
    await until(async () => {
      const { rows } = await blocker.query('SELECT FROM pg_locks WHERE NOT granted')
      expect(rows).toHaveLength(1)
    })
    const asked = Date.now()
    server.kill('SIGTERM')
    expect(await stuck).toBe('cut off')
    expect(await server.ended).toMatchObject(CLEAN_END)
    expect(Date.now() - asked).toBeGreaterThanOrEqual(9_900)
    expect(Date.now() - asked).toBeLessThan(20_000)
    expect(await postmasterOf(dataDir)).toBeNull()
  })
})

describe('other ways to start', () => {
  test('PORT in use: one clear line, exit 1, PostgreSQL stopped again', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const dataDir = program.newDataDir()
    const { port } = other.address() as AddressInfo
    const ended = await program.serve({ DATA_DIR: dataDir, PORT: String(port) }).ended
    other.close()
    expect(ended.code).toBe(1)
    expect(ended.stderr).toBe(
      `longshore serve: PORT=${port} is in use at 127.0.0.1: choose another (PORT=0 picks a free one)\n`,
    )
    expect(await postmasterOf(dataDir)).toBeNull()
    // Nothing was shown, so nothing may have been made either: the next start is still the first.
    const next = program.serve({ DATA_DIR: dataDir })
    expect((await readFirstStart(next)).key).toMatch(/^phx_/)
    next.kill('SIGTERM')
    await next.ended
  })

  test('BOOTSTRAP_… are used while there is no user; METRICS_TOKEN guards the metrics', async () => {
    const secrets = {
      BOOTSTRAP_PASSWORD: 'given-at-the-start-7',
      BOOTSTRAP_API_KEY: `phx_${'Given4All'.repeat(5)}`,
    }
    const server = program.serve({
      DATA_DIR: program.newDataDir(),
      BOOTSTRAP_EMAIL: 'Ada@Example.COM',
      METRICS_TOKEN: 'token-for-the-metrics',
      LOG_FORMAT: 'pretty',
      ...secrets,
    })
    const printed = await readFirstStart(server)
    expect(printed).toMatchObject({
      email: 'Ada@example.com',
      password: secrets.BOOTSTRAP_PASSWORD,
      key: secrets.BOOTSTRAP_API_KEY,
    })
    expect((await get(`${printed.url}/api/users/@me/`, secrets.BOOTSTRAP_API_KEY)).body.email).toBe(
      'Ada@example.com',
    )
    expect((await signIn(printed.url, 'ada@example.com', secrets.BOOTSTRAP_PASSWORD)).status).toBe(200)

    const metrics = `${printed.url}/metrics`
    expect((await get(metrics)).status).toBe(403)
    expect((await get(metrics, 'token-for-the-metricz')).status).toBe(403)
    expect((await get(metrics, secrets.BOOTSTRAP_API_KEY)).status).toBe(403)
    expect((await get(metrics, 'token-for-the-metrics')).status).toBe(200)

    // Its own first environment stays in /proc for as long as it lives, whatever it deletes; a child sees what is left.
    if (isLinux) {
      const [, ...children] = await treeOf(server.pid)
      expect(children.length).toBeGreaterThan(0)
      for (const pid of children) expect(HARMLESS).toEqual(expect.arrayContaining(await environmentOf(pid)))
    }
    server.kill('SIGTERM')
    await server.ended
  })

  test('DATABASE_URL: that PostgreSQL is used, none is started, and it outlives the server', async () => {
    const { host, port, user, password } = inject('postgres')
    const admin = new pg.Client({ host, port, user, password, database: 'longshore' })
    await admin.connect()
    const database = `e2e_${process.pid}`
    await admin.query(`CREATE DATABASE ${database}`)
    const dataDir = program.newDataDir()
    const server = program.serve({
      DATA_DIR: dataDir,
      DATABASE_URL: `postgres://${user}:${password}@/${database}?host=${host}&port=${port}`,
    })
    const { url, key } = await readFirstStart(server)
    expect((await post(`${url}/api/organizations/`, { name: 'Elsewhere' }, { key })).status).toBe(201)
    expect(await postmasterOf(dataDir)).toBeNull()
    expect((await readdir(dataDir)).sort()).toEqual(['events', 'first-start.txt', 'secret.key'])
    server.kill('SIGTERM')
    expect(await server.ended).toMatchObject(CLEAN_END)
    const own = new pg.Client({ host, port, user, password, database })
    await own.connect()
    expect((await own.query('SELECT FROM organization')).rowCount).toBe(2)
    await own.end()
    await admin.query(`DROP DATABASE ${database} WITH (FORCE)`)
    await admin.end()
  })

  test('SECRET_KEY changed with SECRET_KEY_PREVIOUS set: what was sealed opens, what was done once stays done', async () => {
    const DATA_DIR = program.newDataDir()
    const [before, after] = ['b'.repeat(32), 'a'.repeat(32)]
    let server = program.serve({ DATA_DIR, SECRET_KEY: before })
    const { url: firstUrl, email, password, key } = await readFirstStart(server)
    const { cookie } = await signIn(firstUrl, email, password)
    const setup = await request('GET', `${firstUrl}/api/users/@me/start_2fa_setup/`, { cookie })
    const totp = new TOTP({ secret: Secret.fromBase32(setup.body.secret) })
    // Codes of three steps in a row, because none is taken twice: the one before, this one, a backup code.
    const token = totp.generate({ timestamp: Date.now() - 30_000 })
    const confirmed = await post(`${firstUrl}/api/users/@me/validate_2fa/`, { token }, { cookie })
    expect(confirmed.status).toBe(200)
    const create = (url: string) =>
      post(
        `${url}/api/organizations/`,
        { name: 'Once' },
        { key, headers: { 'idempotency-key': 'made-before' } },
      )
    const made = await create(firstUrl)
    server.kill('SIGTERM')
    await server.ended

    server = program.serve({ DATA_DIR, SECRET_KEY: after, SECRET_KEY_PREVIOUS: before })
    const url = await server.url
    for (const code of [totp.generate(), confirmed.body.backup_codes[0]]) {
      const pending = await signIn(url, email, password)
      expect(pending).toMatchObject({ status: 401, body: { code: '2fa_required' } })
      expect(
        (await post(`${url}/api/login/token/`, { token: code }, { cookie: pending.cookie })).status,
      ).toBe(200)
    }
    expect((await request('GET', `${url}/api/users/@me/`, { cookie })).status).toBe(200)
    expect(await create(url)).toMatchObject({ status: 201, body: made.body })
    expect((await get(`${url}/api/organizations/`, key)).body.count).toBe(2)
    server.kill('SIGTERM')
    expect(await server.ended).toMatchObject(CLEAN_END)
  })

  const nobody = process.getuid?.() === 0 ? identityOf('nobody') : null
  test.skipIf(nobody === null || !mayReach(nobody))(
    'as an ordinary user (started by root, from a checkout that others may read)',
    async () => {
      const dataDir = program.newDataDir()
      await mkdir(dataDir)
      await chown(dataDir, nobody!.uid, nobody!.gid)
      const server = program.serve({ DATA_DIR: dataDir }, nobody!)
      const { url, key } = await readFirstStart(server)
      expect((await get(`${url}/api/users/@me/`, key)).status).toBe(200)
      for (const name of ['secret.key', 'postgres', 'run'])
        expect((await stat(join(dataDir, name))).uid).toBe(nobody!.uid)
      server.kill('SIGTERM')
      expect(await server.ended).toMatchObject(CLEAN_END)
      expect(await postmasterOf(dataDir)).toBeNull()
    },
  )
})

function identityOf(name: string) {
  const ask = (flag: string) => Number(execFileSync('id', [flag, name], { encoding: 'utf8' }))
  return { uid: ask('-u'), gid: ask('-g') }
}

function mayReach(identity: { uid: number; gid: number }): boolean {
  return (
    spawnSync(
      '/bin/sh',
      ['-c', '"$0" --version && ls "$1"', process.execPath, join(process.cwd(), 'node_modules')],
      identity,
    ).status === 0
  )
}
