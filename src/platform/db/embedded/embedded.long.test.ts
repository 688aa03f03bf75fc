// The embedded PostgreSQL with real processes: started, raced, killed and stopped.

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { chown, lstat, mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { buildProgram, copyProgram, nobody, openFolder, platformPackage } from './fixture/folders.ts'
import { type Connection, killAllUnder, postmasterOf, query, start } from './fixture/programs.ts'

const isRoot = process.getuid?.() === 0
const needsRoot = 'only root can change to another user'

let shared: string
let program: string
let sandbox: string
let dataDir: string

beforeAll(async () => {
  shared = await openFolder('longshore-program-')
  program = await buildProgram(shared)
  // One data folder made once and copied: most tests are not about making it.
  const made = start(program, { dataDir: join(shared, 'template') })
  await made.opened
  await made.end()
})
afterAll(async () => {
  await killAllUnder(shared)
  await rm(shared, { recursive: true, force: true })
})
beforeEach(async () => {
  sandbox = await openFolder('longshore-embedded-')
  dataDir = join(sandbox, 'data')
})
afterEach(async () => {
  await killAllUnder(sandbox)
  await rm(sandbox, { recursive: true, force: true })
})

async function useTemplate() {
  await mkdir(dataDir)
  execFileSync('cp', ['-a', join(shared, 'template/postgres'), dataDir])
}

async function remember(connection: Connection, value: number) {
  await query(connection, 'create table if not exists kept (value int)')
  await query(connection, `insert into kept values (${value})`)
}

async function recall(connection: Connection): Promise<number[]> {
  return (await query<{ value: number }>(connection, 'select value from kept order by 1')).map(
    (row) => row.value,
  )
}

/** A backend at work does not notice the death of its parent, and a new PostgreSQL refuses to start beside it. */
async function keepBusy(connection: Connection, seconds: number): Promise<void> {
  const loop = `do $$ begin while clock_timestamp() < now() + interval '${seconds} s' loop end loop; end $$`
  query(connection, loop).catch(() => null)
  const active = `select 1 from pg_stat_activity where query like 'do %' and state = 'active'`
  await until(async () => (await query(connection, active)).length === 1)
}

async function until(condition: () => boolean | Promise<boolean>, limit_ms = 10_000) {
  for (const end = Date.now() + limit_ms; !(await condition()); await sleep(10)) {
    if (Date.now() > end) throw new Error('waited in vain')
  }
}

const started = (lines: string[]) => lines.filter((line) => line.includes('starting PostgreSQL')).length

describe('a server on its own', () => {
  test('makes the database at the first start and finds its rows at the next', async () => {
    await mkdir(dataDir)
    await writeFile(join(dataDir, 'secret.key'), 'secret', { mode: 0o600 })
    await writeFile(join(dataDir, 'postgres.log'), 'x'.repeat(5 * 1024 * 1024 + 1))
    const first = start(program, { dataDir, settings: {} })
    const connection = await first.opened
    const { host, ...rest } = connection
    expect(host).toBe(join(dataDir, 'run'))
    const password = (await readFile(join(dataDir, 'postgres.password'), 'utf8')).trim()
    expect(password).toMatch(/^[0-9a-f]{64}$/)
    expect(rest).toEqual({ port: 5432, user: 'longshore', password, database: 'longshore', ssl: false })
    const [settings] = await query(
      connection,
      `select current_setting('fsync') fsync, current_setting('listen_addresses') listen,
         current_setting('server_encoding') encoding, current_setting('max_connections') connections,
         (select concat(datlocprovider, ' ', datlocale) from pg_database where datname = 'longshore') locale`,
    )
    expect(settings).toEqual({
      fsync: 'on',
      listen: '',
      encoding: 'UTF8',
      connections: '40',
      locale: 'b C.UTF-8',
    })
    await remember(connection, 1)

    const pid = (await postmasterOf(dataDir)) ?? 0
    expect(pid).toBeGreaterThan(0)
    const session = execFileSync('ps', ['-o', 'sid=', '-p', String(pid)], { encoding: 'utf8' })
    expect(Number(session), 'a session of its own').toBe(pid)
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '') // only Linux tells
    expect(environment).not.toContain('must-not-reach-postgres')
    expect((await stat(host)).mode & 0o777).toBe(0o700)
    expect((await stat(join(dataDir, 'postgres.log'))).size).toBeLessThan(100_000)
    expect(existsSync(join(dataDir, 'postgres.log.1'))).toBe(true)

    expect(await first.end()).toBe(0)
    expect(await postmasterOf(dataDir)).toBeNull()
    const second = start(program, { dataDir })
    expect(await recall(await second.opened)).toEqual([1])
    expect(await second.end()).toBe(0)
    expect(await postmasterOf(dataDir)).toBeNull()

    const key = await stat(join(dataDir, 'secret.key'))
    expect([key.uid, key.mode & 0o777]).toEqual([process.getuid?.(), 0o600])
    expect((await stat(dataDir)).uid).toBe(process.getuid?.())
    expect((await readdir(dataDir)).filter((name) => name.includes('init'))).toEqual([])
  })

  test('says why PostgreSQL did not start, at once', async () => {
    await useTemplate()
    const from = Date.now()
    const failing = start(program, { dataDir, settings: { shared_buffers: 'plenty' } })
    expect(await failing.exited).toBe(1)
    expect(failing.lines.join('\n')).toMatch(/failed PostgreSQL did not start in DATA_DIR .*exit code 1/)
    expect(failing.lines.join('\n')).toContain('invalid value for parameter "shared_buffers": "plenty"')
    expect(started(failing.lines), 'one attempt').toBe(1)
    expect(Date.now() - from).toBeLessThan(10_000)
  })

  test('ignores and removes what a kill in the middle of initdb leaves behind', async () => {
    await mkdir(dataDir)
    const killed = start(program, { dataDir })
    const halfMade = async () =>
      (await readdir(dataDir)).filter((name) => name.startsWith(`postgres.init-${killed.pid}-`))
    await until(async () => (await halfMade()).some((name) => existsSync(join(dataDir, name, 'PG_VERSION'))))
    await killed.kill()
    expect(existsSync(join(dataDir, 'postgres')), 'nothing that a start would use').toBe(false)
    expect(await halfMade()).toHaveLength(1)
    // Named after this process, which is alive, so the folder may be in use.
    const busy = `postgres.init-${process.pid}-00000000`
    await mkdir(join(dataDir, busy))

    const next = start(program, { dataDir })
    await remember(await next.opened, 1)
    expect((await readdir(dataDir)).filter((name) => name.includes('init'))).toEqual([busy])
    expect(await next.end()).toBe(0)
  })
})

describe('a PostgreSQL left behind', () => {
  test('is adopted after a kill of its server, rows and all', async () => {
    await useTemplate()
    const killed = start(program, { dataDir })
    await remember(await killed.opened, 1)
    const pid = await postmasterOf(dataDir)
    await killed.kill()
    expect(await postmasterOf(dataDir), 'outlives its server').toBe(pid)

    const next = start(program, { dataDir })
    const connection = await next.opened
    expect(await recall(connection)).toEqual([1])
    expect(await postmasterOf(dataDir)).toBe(pid)
    expect(started(next.lines)).toBe(0)
    expect(await next.end()).toBe(0)
    expect(await postmasterOf(dataDir), 'stopped although another process started it').toBeNull()
  })

  test('starts again where the number in its lock files now belongs to another process', async () => {
    await useTemplate()
    const { uid, gid } = await stat(join(dataDir, 'postgres'))
    const bystander = spawn('sleep', ['60'], { uid, gid, cwd: '/' })
    try {
      await mkdir(join(dataDir, 'run'), { mode: 0o700 })
      const text = `${bystander.pid}\n${dataDir}/postgres\n1700000000\n5432\n${dataDir}/run\n\n0 0\nready\n`
      for (const lock of ['postgres/postmaster.pid', 'run/.s.PGSQL.5432.lock']) {
        await writeFile(join(dataDir, lock), text)
        await chown(join(dataDir, lock), uid, gid)
      }
      const server = start(program, { dataDir })
      await remember(await server.opened, 1)
      expect(await server.end()).toBe(0)
      expect(bystander.exitCode ?? bystander.signalCode, 'unharmed').toBeNull()
    } finally {
      bystander.kill()
    }
  })

  test('is not taken for that of a folder copied while in use', async () => {
    await useTemplate()
    const original = start(program, { dataDir })
    await query(await original.opened, 'checkpoint')
    const copied = join(sandbox, 'copied')
    execFileSync('cp', ['-a', dataDir, copied])

    const copy = start(program, { dataDir: copied })
    await remember(await copy.opened, 2)
    expect(await postmasterOf(copied)).not.toBe(await postmasterOf(dataDir))
    const tables = await query(await original.opened, `select 1 from pg_tables where tablename = 'kept'`)
    expect(tables, 'the original did not get the row').toEqual([])
    expect(await copy.end()).toBe(0)
    expect(await postmasterOf(dataDir), 'the original runs on').not.toBeNull()
    expect(await original.end()).toBe(0)
  })
})

describe('two at once', () => {
  test('from cold exactly one becomes the server; the other says so and does no harm', async () => {
    await mkdir(dataDir)
    const both = [start(program, { dataDir }), start(program, { dataDir })]
    const results = await Promise.allSettled(both.map(async ({ opened }) => await opened))
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    const winner = results[0]?.status === 'fulfilled' ? both[0] : both[1]
    const loser = both.find((each) => each !== winner)
    expect(await loser?.exited).toBe(1)
    const message = `failed another Longshore is already running on this DATA_DIR (${dataDir}): longshore pid ${winner?.pid}`
    expect(loser?.lines).toContain(message)

    const connection = await winner?.opened
    if (!winner || !connection) throw new Error('no winner')
    await remember(connection, 1)
    expect(await recall(connection)).toEqual([1])
    expect(winner.lines.filter((line) => line.includes('lost PostgreSQL'))).toEqual([])
    expect((await readdir(dataDir)).filter((name) => name.includes('init'))).toEqual([])
    expect(await winner.end()).toBe(0)
    expect(await postmasterOf(dataDir)).toBeNull()
  })

  test('a command beside a server leaves PostgreSQL running', async () => {
    await useTemplate()
    const server = start(program, { dataDir })
    await remember(await server.opened, 1)
    const pid = await postmasterOf(dataDir)
    const command = start(program, { dataDir, role: 'command' })
    expect(await recall(await command.opened)).toEqual([1])
    expect(await command.end()).toBe(0)
    expect(await postmasterOf(dataDir)).toBe(pid)
    await remember(await server.opened, 2)
    expect(server.lines.filter((line) => line.includes('lost PostgreSQL'))).toEqual([])
    expect(await server.end()).toBe(0)
  })

  test('a command on its own stops what it started', async () => {
    await useTemplate()
    const command = start(program, { dataDir, role: 'command' })
    await remember(await command.opened, 1)
    expect(await postmasterOf(dataDir)).not.toBeNull()
    expect(await command.end()).toBe(0)
    expect(await postmasterOf(dataDir)).toBeNull()
  })

  test('a command leaves what it started to a server, or a command, that came meanwhile', async () => {
    await useTemplate()
    for (const role of ['server', 'command'] as const) {
      const first = start(program, { dataDir, role: 'command' })
      await first.opened
      const second = start(program, { dataDir, role })
      const connection = await second.opened
      expect(started(second.lines)).toBe(0)
      expect(await first.end()).toBe(0)
      await remember(connection, 1)
      expect(second.lines.filter((line) => line.includes('lost PostgreSQL'))).toEqual([])
      expect(await second.end()).toBe(0)
      expect((await postmasterOf(dataDir)) === null, 'only a server stops what it adopted').toBe(
        role === 'server',
      )
    }
  })
})

describe('when PostgreSQL itself is killed', () => {
  test('the server brings it back, keeps the rows and its claim', async () => {
    await useTemplate()
    const server = start(program, { dataDir, settings: {} })
    const connection = await server.opened
    await remember(connection, 1)
    const pid = (await postmasterOf(dataDir)) ?? 0
    await keepBusy(connection, 1)
    process.kill(pid, 'SIGKILL')
    await until(() => server.lines.some((line) => line.includes('PostgreSQL is back')))
    expect(await recall(connection)).toEqual([1])
    expect(await postmasterOf(dataDir)).not.toBe(pid)
    expect(await readFile(join(dataDir, 'postgres.log'), 'utf8')).toContain(
      'pre-existing shared memory block',
    )

    const holders = await query(
      { ...connection, database: 'postgres' },
      `select application_name from pg_locks join pg_stat_activity using (pid) where locktype = 'advisory'`,
    )
    expect(holders, 'the claim is held again').toEqual([{ application_name: `longshore pid ${server.pid}` }])
    expect(await server.end()).toBe(0)
    expect(await postmasterOf(dataDir)).toBeNull()
  })

  test('together with its server, the next start waits for what is still at work', async () => {
    await useTemplate()
    const killed = start(program, { dataDir })
    const connection = await killed.opened
    await remember(connection, 1)
    await keepBusy(connection, 2)
    await killed.kill()
    process.kill((await postmasterOf(dataDir)) ?? 0, 'SIGKILL')
    const next = start(program, { dataDir })
    expect(await recall(await next.opened)).toEqual([1])
    expect(await readFile(join(dataDir, 'postgres.log'), 'utf8')).toContain(
      'pre-existing shared memory block',
    )
    expect(await next.end()).toBe(0)
  })

  test('a stop in the middle of a restart leaves nothing running', async () => {
    await useTemplate()
    const server = start(program, { dataDir })
    await server.opened
    process.kill((await postmasterOf(dataDir)) ?? 0, 'SIGKILL')
    await until(() => server.lines.some((line) => line.includes('lost PostgreSQL')))
    expect(await server.end()).toBe(0)
    await until(async () => (await postmasterOf(dataDir)) === null)
    // That nothing comes back can only be watched for a while.
    await sleep(200)
    expect(await postmasterOf(dataDir)).toBeNull()
  })
})

describe('places and users', () => {
  test('a path too long for a socket gets its socket in the temporary directory', async () => {
    dataDir = join(sandbox, 'd'.repeat(60), 'e'.repeat(40))
    const server = start(program, { dataDir })
    const connection = await server.opened
    try {
      expect(dirname(connection.host)).toBe(tmpdir())
      const folder = await lstat(connection.host)
      expect([folder.isDirectory(), folder.mode & 0o777]).toEqual([true, 0o700])
      expect(existsSync(join(dataDir, 'run'))).toBe(false)
      await remember(connection, 1)
      await server.kill()
      const next = start(program, { dataDir })
      expect(await recall(await next.opened)).toEqual([1])
      expect(started(next.lines)).toBe(0)
      expect(await next.end()).toBe(0)
    } finally {
      await rm(connection.host, { recursive: true, force: true })
    }
  })

  test('as root behind closed folders, where the libraries were never linked', async ({ skip }) => {
    skip(!isRoot, needsRoot)
    const home = join(sandbox, 'a, home')
    await mkdir(home, { mode: 0o700 })
    dataDir = join(home, 'data')
    const copy = await copyProgram(program, home)
    const both = [start(copy, { dataDir }), start(copy, { dataDir, role: 'command' })]
    const [connection] = await Promise.all(both.map(async ({ opened }) => await opened))
    if (!connection) throw new Error('did not open')
    await remember(connection, 1)
    expect(connection.host).toBe(join(dataDir, 'run'))
    const { uid } = statSync(`/proc/${await postmasterOf(dataDir)}`)
    expect([0, nobody().uid], 'neither root nor anybody who shares it').not.toContain(uid)
    expect(spawnSync('id', [String(uid)]).status, 'no account').toBe(1)
    expect((await stat(home)).mode & 0o777, 'still closed').toBe(0o700)
    expect((await stat(dataDir)).uid).toBe(0)
    expect(existsSync(join(home, 'node_modules', platformPackage, 'native/lib/libpq.so.5'))).toBe(true)
    for (const each of both.toReversed()) expect(await each.end()).toBe(0)
    expect(await postmasterOf(dataDir)).toBeNull()
  })

  test('as an ordinary user on a program installed by root', async ({ skip }) => {
    skip(!isRoot, needsRoot)
    const { uid, gid } = nobody()
    const copy = await copyProgram(program, sandbox)
    await mkdir(dataDir, { mode: 0o700 })
    await chown(dataDir, uid, gid)
    const server = start(copy, { dataDir }, { uid, gid })
    await remember(await server.opened, 1)
    expect((await stat(join(dataDir, 'postgres'))).uid).toBe(uid)
    expect(existsSync(join(sandbox, 'node_modules', platformPackage, 'native/lib/libpq.so.5'))).toBe(false)
    expect(existsSync(join(dataDir, 'postgres-lib/libpq.so.5'))).toBe(true)
    expect(await server.end()).toBe(0)
    expect(await postmasterOf(dataDir)).toBeNull()
  })

  test('as root on a folder from the time of nobody and without a password: both are mended', async ({
    skip,
  }) => {
    skip(!isRoot, needsRoot)
    await useTemplate()
    const { uid, gid } = nobody()
    const rules = join(dataDir, 'postgres/pg_hba.conf')
    await writeFile(rules, 'local all all trust\n')
    await mkdir(join(dataDir, 'run'), { mode: 0o700 })
    for (const name of ['postgres', 'run'])
      execFileSync('chown', ['-R', `${uid}:${gid}`, join(dataDir, name)])
    const server = start(program, { dataDir })
    const connection = await server.opened
    expect(await readFile(rules, 'utf8')).toMatch(/^local all all scram-sha-256$/m)
    await expect(query({ ...connection, password: 'guess' }, 'select 1')).rejects.toThrow(/password/)
    for (const name of ['postgres', 'run', 'postgres.log', 'postgres/pg_hba.conf']) {
      expect((await stat(join(dataDir, name))).uid, name).not.toBe(uid)
    }
    expect(await server.end()).toBe(0)
  })

  test('a password that was lost is made anew', async () => {
    await useTemplate()
    const first = start(program, { dataDir })
    await remember(await first.opened, 1)
    expect(await first.end()).toBe(0)
    await rm(join(dataDir, 'postgres.password'))
    const second = start(program, { dataDir })
    expect(await recall(await second.opened)).toEqual([1])
    expect(await second.end()).toBe(0)
  })

  test('root leaves the folder of an ordinary user theirs; a third user gets one clear message', async ({
    skip,
  }) => {
    skip(!isRoot, needsRoot)
    await useTemplate()
    const user = { uid: 12_345, gid: 12_345 }
    execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, dataDir])
    const copy = await copyProgram(program, sandbox)
    for (const identity of [{}, user]) {
      const server = start(copy, { dataDir }, identity)
      await server.opened
      expect(statSync(`/proc/${await postmasterOf(dataDir)}`).uid).toBe(user.uid)
      expect(await server.end()).toBe(0)
    }
    const stranger = start(copy, { dataDir }, nobody())
    expect(await stranger.exited).toBe(1)
    expect(stranger.lines).toHaveLength(1)
    expect(stranger.lines[0]).toMatch(/^failed .*belongs to user id 12345: .*DATA_DIR.*DATABASE_URL/)
  })
})
