// The life of one server from outside: what its first start shows and makes, what it answers, and how it stops.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { isBuiltin } from 'node:module'
import { readdir, readFile, rename, stat } from 'node:fs/promises'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { getPriority } from 'node:os'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiDocument } from '../../src/app/document.ts'
import { until } from '../harness/until.ts'
import { readFirstStart, type Printed } from './first-start.ts'
import { beginPost, get, post, refusal, request, signIn } from './http.ts'
import { tcpListenersOf, treeOf } from './processes.ts'
import { buildProgram, postmasterOf, type Program, type Running } from './program.ts'

const isLinux = process.platform === 'linux'
const CLEAN_END = { code: 0, stderr: '' }
const POOL_SIZE = 16
/** Lines of the bundler's own and calls in them: a name in a text or a comment does not count. */
const OUTSIDE_IMPORT =
  /(?:^(?:import|export) .*?(?:from )?|\bimport\(|\b__require\(|import\.meta\.resolve\()["'](@[\w-]+\/[\w.-]+|[a-z][\w.-]*)(?:\/[^"']*)?["']/gm

let program: Program
beforeAll(async () => {
  program = await buildProgram()
})
afterAll(() => program.remove())

describe('the package', () => {
  test('npm pack takes what is needed, and nothing else', async () => {
    const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json', '--silent'], {
      cwd: program.root,
    })
    // An object by name from npm 11 on, a list before.
    const [packed] = Object.values(JSON.parse(stdout) as Record<string, { files: { path: string }[] }>)
    const paths = packed!.files.map(({ path }) => path)
    const built = (await readdir(join(program.root, 'dist'), { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile() && !entry.name.endsWith('.map'))
      .map((entry) => relative(program.root, join(entry.parentPath, entry.name)))
    const others = [
      '.env.example',
      'LICENSE',
      'README.md',
      'bin/longshore.cjs',
      'bin/start.cjs',
      'package.json',
    ]
    expect(paths.toSorted()).toEqual([...built, ...others].toSorted())
  })

  test('what the build takes from outside is installed with it', async () => {
    const manifest = JSON.parse(await readFile('package.json', 'utf8')) as Record<
      string,
      Record<string, string>
    >
    const installed = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
    // What browsers load is whole by itself.
    const files = (await readdir(join(program.root, 'dist'), { recursive: true })).filter(
      (name) => /\.c?js$/.test(name) && !/^(browser-library|console|docs-page)\//.test(name),
    )
    const wanted = new Set<string>()
    for (const file of files) {
      const code = await readFile(join(program.root, 'dist', file), 'utf8')
      for (const [, name] of code.matchAll(OUTSIDE_IMPORT)) if (!isBuiltin(name!)) wanted.add(name!)
    }
    // pg asks for its native part, and does without.
    expect([...wanted].filter((name) => name !== 'pg-native').toSorted()).toEqual(installed.toSorted())
  })
})

describe('a start that hangs', () => {
  test('says what it waits for, and SIGTERM ends it', async () => {
    // Takes connections, and never says a word.
    const sockets = new Set<Socket>()
    const silent = createServer((socket) => void sockets.add(socket)).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    const server = program.serve({
      DATA_DIR: program.newDataDir(),
      DATABASE_URL: `postgres://user:password@127.0.0.1:${port}/longshore`,
    })
    await until(() => expect(server.stdout()).toContain('the start waits for: migrations of the database'))
    server.kill('SIGTERM')
    expect(await server.ended).toMatchObject(CLEAN_END)
    for (const socket of sockets) socket.destroy()
    silent.close()
  })
})

describe('the first start on an empty folder', () => {
  let dataDir: string
  let server: Running
  let printed: Printed

  beforeAll(async () => {
    dataDir = program.newDataDir()
    server = program.serve({ DATA_DIR: dataDir, METRICS_TOKEN: '' })
    printed = await readFirstStart(server)
  })

  const api = (path: string) => `${printed.url}${path}`

  test('leaves curl lines that work when pasted', async () => {
    expect(printed.capture).toMatchObject({
      url: api('/capture/'),
      body: { api_key: printed.token, event: 'hello' },
    })
    // As curl sends what it is given with -d.
    const sent = await fetch(printed.capture.url, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: JSON.stringify(printed.capture.body),
    })
    expect(sent.status).toBe(200)
    expect(printed.curl.url).toBe(api('/api/projects/@current/events/'))
    const answer = await request('GET', printed.curl.url, { headers: printed.curl.headers })
    expect(answer.status).toBe(200)
    expect(answer.body.results).toMatchObject([{ event: 'hello', distinct_id: 'me' }])
  })

  test('leaves a key that may do everything, and a random password that signs in', async () => {
    expect(printed.key).toMatch(/^phx_\w{40,}$/)
    expect(printed.token).toMatch(/^phc_\w{30,}$/)
    expect((await get(api('/api/personal_api_keys/@current/'), printed.key)).body.scopes).toEqual(['*'])
    const { email, password } = printed
    const { status, cookie } = await signIn(printed.url, email, password)
    expect(status).toBe(200)
    const me = await request('GET', api('/api/users/@me/'), { cookie })
    expect(me).toMatchObject({ status: 200, body: { email, is_staff: true } })
    expect((await post(api('/api/login/'), { email, password: `${password}x` })).status).toBe(400)
  })

  test('writes none of the secrets to its output, which nobody watches: it says where they are', () => {
    expect(server.stdout()).toContain(
      `Longshore is ready at ${printed.url}\nThe first owner's password and API key are in ${join(dataDir, 'first-start.txt')}: `,
    )
    for (const secret of [printed.password, printed.key, printed.token]) {
      expect(secret.length).toBeGreaterThan(10)
      expect(server.stdout() + server.stderr()).not.toContain(secret)
    }
  })

  test('makes a folder that is closed to others, with the key of the secrets in it', async () => {
    const modeOf = async (...path: string[]) => (await stat(join(dataDir, ...path))).mode & 0o777
    expect(await modeOf('secret.key')).toBe(0o600)
    expect(await modeOf('first-start.txt')).toBe(0o600)
    expect(await modeOf('postgres')).toBe(0o700)
    expect(await modeOf('run')).toBe(0o700)
    expect(await modeOf('events')).toBe(0o700)
    // As root, PostgreSQL's user passes through.
    expect(await modeOf()).toBe(process.getuid?.() === 0 ? 0o711 : 0o700)
    expect(await modeOf('postgres.password')).toBe(0o600)
    expect((await readdir(dataDir)).sort()).toEqual([
      'events',
      'first-start.txt',
      'postgres',
      'postgres.log',
      'postgres.password',
      'run',
      'secret.key',
    ])
  })

  test.skipIf(!isLinux)(
    'listens on its one port on loopback, PostgreSQL on none (asks /proc: Linux only)',
    async () => {
      const tree = await treeOf(server.pid)
      expect(tree).toContain(await postmasterOf(dataDir))
      expect(await tcpListenersOf(tree)).toEqual([new URL(printed.url).host])
    },
  )

  test.skipIf(!isLinux)(
    'answers before its thread pool goes on, where the engine of the event store works too (asks /proc: Linux only)',
    async () => {
      const threads = (await readdir(`/proc/${server.pid}/task`)).map(Number)
      const behind = threads.filter((thread) => getPriority(thread) === getPriority() + 5)
      expect(behind).toHaveLength(POOL_SIZE)
      expect(getPriority(server.pid)).toBe(getPriority())
      expect(getPriority((await postmasterOf(dataDir))!)).toBe(getPriority())
    },
  )

  test('GET /_livez and /_readyz: 200', async () => {
    expect(await get(api('/_livez'))).toMatchObject({ status: 200, body: { status: 'ok' } })
    expect(await get(api('/_readyz'))).toMatchObject({ status: 200, body: { status: 'ok', missing: [] } })
  })

  test('GET /metrics: Prometheus text', async () => {
    const answer = await get(api('/metrics'))
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
    expect(answer.body).toMatch(
      /^longshore_http_request_seconds_count\{.*route="\/api\/login\/",status="200"\} 1$/m,
    )
    expect(answer.body).toMatch(/^process_cpu_seconds_total \d/m)
  })

  test('GET /api/schema/: the OpenAPI document of the routes', async () => {
    const answer = await get(api('/api/schema/'))
    expect(answer.status).toBe(200)
    expect(answer.body.openapi).toMatch(/^3\.1\./)
    expect(answer.body).toEqual(JSON.parse(JSON.stringify(apiDocument())))
  })

  describe('GET /docs', () => {
    test('loads whole from this host, and the document with it', async () => {
      const page = await get(api('/docs'))
      expect(page).toMatchObject({ status: 200 })
      const assets = [...String(page.body).matchAll(/(?:src|href)="([^"]+)"/g)].map(
        ([, path]) => new URL(path!, api('/docs')),
      )
      expect(assets.length).toBeGreaterThanOrEqual(6)
      for (const asset of assets) {
        expect(asset.origin).toBe(printed.url)
        expect((await get(asset.href)).status, asset.href).toBe(200)
      }
    })

    test('names no other host, and lets the browser ask none', async () => {
      const page = await get(api('/docs'))
      const script = await get(api('/docs/static/swagger-initializer.js'))
      expect(script.body).toContain("url: '/api/schema/'")
      expect(`${page.body}${script.body}`).not.toMatch(/https?:\/\/|"\/\//)
      const policy = page.headers.get('content-security-policy')!
      expect(policy).toContain("default-src 'self'")
      expect(policy).not.toMatch(/https?:|\.\w|upgrade-insecure-requests|unsafe/)
    })
  })

  test('a second start beside it says so and ends; the first goes on', async () => {
    const second = await program.serve({ DATA_DIR: dataDir }).ended
    expect(second.code).toBe(1)
    expect(second.stderr).toMatch(
      /^longshore serve: another Longshore is already running on this DATA_DIR .*\n$/,
    )
    expect(second.stderr).toContain(String(server.pid))
    expect((await get(api('/api/users/@me/'), printed.key)).status).toBe(200)
  })

  test('PostgreSQL hangs: not ready, alive, and ready again when it answers', async () => {
    const postgres = await treeOf((await postmasterOf(dataDir))!)
    for (const pid of postgres) process.kill(pid, 'SIGSTOP')
    try {
      expect(await get(api('/_readyz'))).toMatchObject({
        status: 503,
        body: { status: 'not ready', missing: ['database'] },
      })
      expect((await get(api('/_livez'))).status).toBe(200)
      expect(await get(api('/metrics'))).toMatchObject({
        status: 200,
        body: expect.stringContaining('process_cpu_seconds_total'),
      })
    } finally {
      for (const pid of postgres) process.kill(pid, 'SIGCONT')
    }
    await until(async () => expect((await get(api('/_readyz'))).status).toBe(200))
  })

  test('PostgreSQL is killed and cannot start: not ready; it comes back as soon as it can', async () => {
    // Its folder out of the way: how long it is gone is up to the test and not to the speed of the machine.
    await rename(join(dataDir, 'postgres'), join(dataDir, 'away'))
    const before = Number((await readFile(join(dataDir, 'away/postmaster.pid'), 'utf8')).split('\n')[0])
    process.kill(before, 'SIGKILL')
    const notReady = { status: 503, body: { status: 'not ready', missing: ['database'] } }
    await until(async () => expect(await get(api('/_readyz'))).toMatchObject(notReady))
    const refused = await get(api('/api/organizations/'), printed.key)
    expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    expect(refused.headers.get('retry-after')).toBe('1')

    await rename(join(dataDir, 'away'), join(dataDir, 'postgres'))
    await until(async () => expect((await get(api('/_readyz'))).status).toBe(200))
    expect(await postmasterOf(dataDir)).not.toBe(before)
    expect((await get(api('/api/organizations/@current/'), printed.key)).body.name).toBe('My organization')
    const made = await post(api('/api/organizations/'), { name: 'After the fall' }, { key: printed.key })
    expect(made.status).toBe(201)
  })

  test('SIGTERM: no new connections, the request in flight is answered, PostgreSQL goes last, exit 0', async () => {
    const slow = await beginPost(api('/api/organizations/'), printed.key, { name: 'Just in time' })
    server.kill('SIGTERM')
    await until(async () => expect(await refusal(printed.url)).toBe('ECONNREFUSED'))
    expect(await postmasterOf(dataDir)).not.toBeNull()
    const sent = Date.now()
    expect(await slow.finish()).toMatch(/^HTTP\/1\.1 201 Created\r\n[^]*"name":"Just in time"/)
    expect(await server.ended).toMatchObject(CLEAN_END)
    expect(Date.now() - sent).toBeLessThan(5_000)
    expect(await postmasterOf(dataDir)).toBeNull()
  })

  test('the next start prints no secret; the same key works and the last request counts', async () => {
    const next = program.serve({
      DATA_DIR: dataDir,
      BOOTSTRAP_EMAIL: 'late@example.com',
      BOOTSTRAP_PASSWORD: 'much-too-late-now',
    })
    const url = await next.url
    for (const secret of [
      printed.password,
      printed.key,
      printed.token,
      'much-too-late-now',
      'phx_',
      'phc_',
    ]) {
      expect(next.stdout() + next.stderr()).not.toContain(secret)
    }
    const { body } = await get(`${url}/api/organizations/`, printed.key)
    expect(body.results.map((one: { name: string }) => one.name)).toEqual([
      'My organization',
      'After the fall',
      'Just in time',
    ])
    const late = await post(`${url}/api/login/`, { email: 'late@example.com', password: 'much-too-late-now' })
    expect(late).toMatchObject({ status: 400, body: { code: 'invalid_credentials' } })

    // Connections kept open by clients do not hold up the stop.
    const asked = Date.now()
    next.kill('SIGINT')
    expect(await next.ended).toMatchObject(CLEAN_END)
    expect(Date.now() - asked).toBeLessThan(5_000)
    expect(await postmasterOf(dataDir)).toBeNull()
  })
})
