// The package as a stranger gets it: installed from its tarball into an empty folder by an ordinary user, started there, and
// then once more where nothing can be written but its data. Asks the registry for the few packages that are not bundled.
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob'
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startAzurite, type Azurite } from '../stand-ins/azurite.ts'
import { startS3Server, type S3Server } from '../stand-ins/s3/server.ts'
import { get, post } from './http.ts'
import { buildProgram, type Program } from './program.ts'

const run = promisify(execFile)
const isRoot = process.getuid?.() === 0
/** An account that has nothing here; without root, our own. */
const NOBODY = isRoot ? { uid: 65534, gid: 65534 } : {}
// On x64 163: DuckDB 68, PostgreSQL 60, ours 20, esbuild 11, QuickJS and argon2 3.
const MAX_MB = 165

let program: Program
let folder: string
let env: Record<string, string>
let install_ms = 0
const started = new Set<ChildProcess>()

beforeAll(async () => {
  program = await buildProgram()
  await run('npm', ['pack', '--pack-destination', '.'], { cwd: program.root })
  const { stdout: registry } = await run('npm', ['config', 'get', 'registry'], { cwd: program.root })
  // Not below the program's: npm looks upwards for a project.
  folder = await realpath(await mkdtemp(join(tmpdir(), 'longshore-empty-')))
  await mkdir(join(folder, 'tmp'))
  if (isRoot) for (const path of [folder, join(folder, 'tmp')]) await chown(path, NOBODY.uid!, NOBODY.gid!)
  env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    TMPDIR: join(folder, 'tmp'),
    npm_config_registry: registry.trim(),
  }
  const tarball = join(program.root, 'longshore-0.1.0.tgz')
  const began = Date.now()
  await run('npm', ['install', tarball], { cwd: folder, env, ...NOBODY })
  install_ms = Date.now() - began
}, 600_000)
afterAll(async () => {
  await Promise.all([...started].map(stop))
  await rm(folder, { recursive: true, force: true })
  await program.remove()
}, 60_000)

/** The address, once it is ready. */
async function start(command: string, args: readonly string[], identity: object = NOBODY) {
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...env, PORT: '0' },
    stdio: 'pipe',
    detached: true,
    ...identity,
  })
  started.add(child)
  child.once('exit', () => started.delete(child))
  let text = ''
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString()
        const found = /^Longshore is ready at (http\S+)$/m.exec(text)?.[1]
        if (found !== undefined) resolve(found)
      })
    child.once('exit', (code) => reject(new Error(`ended with ${code}:\n${text}`)))
  })
  return { child, url }
}

/** As Ctrl-C does: npx itself passes no signal on. */
async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child.stdout!, 'close') // all that write to it are gone
  process.kill(-child.pid!, 'SIGINT')
  await ended
}

const keyOf = async () => /phx_\w+/.exec(await readFile(join(folder, 'data/first-start.txt'), 'utf8'))![0]

async function sendEvent(url: string, key: string): Promise<void> {
  const { body } = await get(`${url}/api/projects/@current/`, key)
  const event = { event: 'hello', distinct_id: 'me', timestamp: '2024-05-01T12:00:00Z', properties: {} }
  expect((await post(`${url}/batch/`, { api_key: body.api_token, batch: [event] })).status).toBe(200)
}

/** Makes an export and delivers the day of the event. */
async function deliver(url: string, key: string, destination: object): Promise<void> {
  const body = { name: 'All', interval: 'day', destination }
  const made = await post(`${url}/api/projects/@current/batch_exports/`, body, { key })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  const range = ['--from', '2024-05-01T00:00:00Z', '--to', '2024-05-02T00:00:00Z']
  expect(await command('export', made.body.id, ...range)).toMatch(/^rows +1$/m)
}

async function command(...args: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [main(), ...args], { cwd: folder, env, ...NOBODY })
  return stdout
}

const main = () => join(folder, 'node_modules/longshore/bin/longshore.cjs')

/** Their clients are bundled: nothing of them is installed. */
function s3Destination({ url, region, access_key_id, secret_access_key }: S3Server): object {
  return {
    type: 'S3',
    config: {
      bucket_name: 'exports',
      region,
      prefix: 'out',
      endpoint_url: url,
      aws_access_key_id: access_key_id,
      aws_secret_access_key: secret_access_key,
    },
  }
}

async function azureDestination({ port, account_name, account_key }: Azurite): Promise<object> {
  const endpoint = `http://127.0.0.1:${port}/${account_name}`
  const client = new BlobServiceClient(endpoint, new StorageSharedKeyCredential(account_name, account_key))
  await client.getContainerClient('exports').create()
  return {
    type: 'AzureBlob',
    config: {
      container_name: 'exports',
      prefix: 'out',
      account_name,
      account_key,
      endpoint_url: endpoint,
    },
  }
}

describe.skipIf(process.platform !== 'linux')('installed from the tarball', () => {
  let s3: S3Server
  let azure: Azurite
  beforeAll(async () => {
    s3 = await startS3Server(['exports'])
    azure = await startAzurite()
  })
  afterAll(async () => {
    await s3.close()
    await azure.close()
  })

  test(`weighs less than ${MAX_MB} MB`, async () => {
    const { stdout } = await run('du', ['-sm', join(folder, 'node_modules')])
    process.stderr.write(`installed: ${Number.parseInt(stdout, 10)} MB\n`)
    expect(Number.parseInt(stdout, 10)).toBeLessThan(MAX_MB)
  })

  test('npx longshore: from nothing to the first event and the first exported file', async () => {
    const began = Date.now()
    const { child, url } = await start('npx', ['longshore'])
    const key = await keyOf()
    await sendEvent(url, key)
    await deliver(url, key, { type: 'File', config: { prefix: 'all', file_format: 'Parquet' } })
    const files = await readdir(join(folder, 'data/exports'), { recursive: true })
    expect(files.filter((name) => name.endsWith('.parquet'))).toHaveLength(1)
    const seconds = (ms: number) => (ms / 1000).toFixed(1)
    process.stderr.write(
      `npm install: ${seconds(install_ms)} s; npx longshore to the first exported file: ${seconds(Date.now() - began)} s\n`,
    )
    await stop(child)
  }, 300_000)

  test.skipIf(!isRoot)(
    'on a root that cannot be written (only root can mount)',
    async () => {
      const data = join(folder, 'data')
      const [uid, gid] = [String(NOBODY.uid), String(NOBODY.gid)]
      // The data and the folder for temporary files stay writable; everything else is mounted read-only.
      const script = [
        'mount --make-rprivate /',
        // It may lie on a file system of its own.
        'mount --bind "$HOME" "$HOME"',
        'mount --bind "$1" "$1"',
        'mount --bind "$TMPDIR" "$TMPDIR"',
        'mount -o remount,bind,ro /',
        'mount -o remount,bind,ro "$HOME"',
        '! touch "/tmp/longshore-probe" 2>/dev/null',
        '! touch "$HOME/probe" 2>/dev/null',
        'exec setpriv --reuid "$2" --regid "$3" --clear-groups "$4" "$5" serve',
      ].join(' && ')
      const args = ['-m', 'sh', '-c', script, 'sh', data, uid, gid, process.execPath, main()]
      env.OUTBOUND_ALLOW = '127.0.0.1'
      const { child, url } = await start('unshare', args, {})
      const key = await keyOf()
      expect((await get(`${url}/docs/static/swagger-ui.css`)).status).toBe(200)
      await deliver(url, key, { type: 'File', config: { prefix: 'again', file_format: 'JSONLines' } })
      await deliver(url, key, s3Destination(s3))
      await deliver(url, key, await azureDestination(azure))
      expect(await command('verify')).toMatch(/^exports +4\n[^]*^rows +4\n[^]*^problems +0$/m)
      await stop(child)
    },
    300_000,
  )
})

test('npm pack without a build fails, and names what builds and packs', async () => {
  const packing = run('npm', ['pack'], { cwd: program.root })
  await expect(packing).rejects.toThrow(/use-npm-run-pack/)
  const { scripts } = JSON.parse(await readFile(join(program.root, 'package.json'), 'utf8'))
  expect(scripts.pack).toMatch(/^npm run build && npm pack /)
})

describe('what is missing is said in one line', () => {
  test.each([
    [
      'the build',
      'dist',
      /^longshore: \S+\/dist is missing: install the package again, or make it with npm run pack\n$/,
    ],
    [
      'a package',
      '../@node-rs',
      /^longshore: the package @node-rs\/argon2 is not installed \(this is \w+ on \w+\): .*\n$/,
    ],
  ])('%s', async (_what, path, message) => {
    const root = join(folder, 'node_modules/longshore')
    const missing = join(root, path)
    await rename(missing, `${missing}-away`)
    const ended = await run(process.execPath, [main(), '--version'], { cwd: folder, env }).catch(
      (error: unknown) => error,
    )
    await rename(`${missing}-away`, missing)
    expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(message) })
  })
})
