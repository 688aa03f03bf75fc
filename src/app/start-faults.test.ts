// Faults of a start name the setting that leads there and its value, and never a password.
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, readdir, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { ConfigError, readConfig } from './config.ts'
import { assertUsableFolder, explainDatabaseFault, explainListenFault } from './start-faults.ts'

let folder: string
let closedPort: number
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-faults-'))
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  closedPort = (server.address() as AddressInfo).port
  await new Promise((closed) => server.close(closed))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('DATABASE_URL', () => {
  const connect = async (url: string) => {
    const client = new pg.Client({ connectionString: url })
    const error: unknown = await client.connect().then(
      () => null,
      (failure: unknown) => failure,
    )
    const explained = explainDatabaseFault(url, error)
    expect(explained).toBeInstanceOf(ConfigError)
    return (explained as Error).message
  }

  test('nobody listens', async () => {
    expect(await connect(`postgres://ada:hidden-word@127.0.0.1:${closedPort}/shop`)).toBe(
      `DATABASE_URL leads to the database shop of ada at 127.0.0.1:${closedPort}: nothing listens there (ECONNREFUSED)`,
    )
  })

  test('a socket that is not there', async () => {
    const url = `postgres://ada@/shop?host=${encodeURIComponent(folder)}`
    expect(await connect(url)).toBe(
      `DATABASE_URL leads to the database shop of ada at ${folder}: there is no such socket (ENOENT)`,
    )
  })

  test('a wrong password, a database that is not there', async () => {
    const { host, port, user, password } = inject('postgres')
    const urlOf = (word: string, database: string) =>
      `postgres://${user}:${word}@/${database}?host=${encodeURIComponent(host)}&port=${port}`
    const refused = await connect(urlOf('hidden-word', 'longshore'))
    expect(refused).toMatch(/the password is refused \(28P01\)$/)
    expect(refused).not.toContain('hidden-word')
    expect(await connect(urlOf(password, 'nowhere'))).toMatch(
      /the database nowhere .*: there is no such database \(3D000\)$/,
    )
  })

  test('what has nothing to do with the connection stays as it is', () => {
    const error = Object.assign(new Error('syntax error'), { code: '42601' })
    expect(explainDatabaseFault('postgres://a@b/c', error)).toBe(error)
  })
})

describe('HOST and PORT', () => {
  test.each([
    ['203.0.113.1', 0, 'HOST=203.0.113.1 is not an address of this machine: 0.0.0.0 listens on all of them'],
    ['nowhere.invalid', 0, /^HOST=nowhere\.invalid does not resolve to an address \(E\w+\): /],
  ])('%s:%s', async (HOST, PORT, message) => {
    const server = createServer()
    const failed = once(server, 'error')
    server.listen(PORT, HOST)
    const [error] = (await failed) as [Error]
    const explained = explainListenFault({ ...readConfig({}), HOST, PORT }, error)
    expect(explained).toBeInstanceOf(ConfigError)
    expect((explained as Error).message).toMatch(message)
  })

  test.each([
    ['EADDRINUSE', 'PORT=8000 is in use at 127.0.0.1: choose another (PORT=0 picks a free one)'],
    ['EACCES', 'PORT=8000 may not be used by this user: choose one from 1024 on'],
  ])('%s', (code, message) => {
    const error = Object.assign(new Error(code), { code })
    expect((explainListenFault(readConfig({}), error) as Error).message).toBe(message)
  })
})

describe('DATA_DIR', () => {
  test('one that is there, and one that is to be made: nothing is made yet', async () => {
    await mkdir(join(folder, 'there'))
    await assertUsableFolder(join(folder, 'there'))
    await assertUsableFolder(join(folder, 'there/not/yet'))
    await expect(assertUsableFolder(join(folder, 'there/not'))).resolves.toBeUndefined()
    expect(await readdir(join(folder, 'there'))).toEqual([])
  })

  test('a place where nobody can make a folder, whatever its modes say', async () => {
    await expect(assertUsableFolder('/proc/longshore')).rejects.toThrow(
      /^DATA_DIR=\/proc\/longshore cannot be written by this user \(E[A-Z]+\): choose another folder/,
    )
  })

  test('a file, and something below a file', async () => {
    const file = join(folder, 'file')
    await writeFile(file, '')
    await expect(assertUsableFolder(file)).rejects.toThrow(`DATA_DIR=${file} is not a folder`)
    await expect(assertUsableFolder(join(file, 'data'))).rejects.toThrow(
      `DATA_DIR=${join(file, 'data')} is not a folder`,
    )
  })

  test.skipIf(process.getuid?.() === 0)('a place where this user cannot write (root can)', async () => {
    const closed = join(folder, 'closed')
    await mkdir(closed, { mode: 0o500 })
    await expect(assertUsableFolder(join(closed, 'data'))).rejects.toThrow(
      `DATA_DIR=${join(closed, 'data')} cannot be written by this user (EACCES): choose another folder`,
    )
  })
})
