import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readLocalSource } from './local.ts'

let base: string
let root: string

const refused = (detail: string) => ({
  status: 400,
  code: 'invalid_input',
  attr: 'url',
  detail: expect.stringContaining(detail),
})

async function write(folder: string, files: Record<string, string | Buffer>): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
}

const APP = { 'plugin.json': '{"name": "Local"}', 'index.ts': 'one' }
const read = (url: string) => readLocalSource({ plugins_folder: root }, url)

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'longshore-local-'))
  root = join(base, 'plugins')
  await write(join(root, 'my app'), APP)
  await write(join(base, 'outside'), APP)
  await write(join(base, 'plugins-beside'), APP)
})
afterEach(() => rm(base, { recursive: true }))

test('reads the folder at each call', async () => {
  for (const url of [
    `file:${root}/my%20app`,
    `file://${root}/my%20app/`,
    pathToFileURL(join(root, 'my app')).href,
  ]) {
    const found = await read(url)
    expect(found).toMatchObject({ url, tag: null, manifest: { name: 'Local' } })
    expect([...found.files]).toEqual([
      ['plugin.json', '{"name":"Local"}'],
      ['index.ts', 'one'],
    ])
  }
  await writeFile(join(root, 'my app', 'index.ts'), 'two')
  expect((await read(`file:${root}/my%20app`)).files.get('index.ts')).toBe('two')
})

test('links inside the folder are followed', async () => {
  await symlink(join(root, 'my app'), join(root, 'link'))
  expect(await read(`file:${root}/link`)).toMatchObject({ manifest: { name: 'Local' } })
})

test('what lies outside is refused like what is not there', async () => {
  await symlink(join(base, 'outside'), join(root, 'out'))
  const urls = [
    `file:${base}/outside`,
    `file:${root}/../outside`,
    `file:${root}/%2e%2e/outside`,
    `file:${root}/out`,
    `file:${base}/plugins-beside`,
    `file:${root}`,
    `file:${root}/nothing`,
    `file:${root}%2fmy%20app`,
    `file:${root}/my%20app%00`,
    `file://elsewhere${root}/my%20app`,
    'file:',
    'file:relative',
    'https://github.com/a/b',
    root,
  ]
  for (const url of urls) await expect(read(url)).rejects.toMatchObject(refused('no such folder'))
})

test('a file that is a link to the outside, or no file at all, is not read', async () => {
  const folder = join(root, 'sly')
  await write(folder, { 'plugin.json': '{"name": "Sly"}' })
  await symlink(join(base, 'outside', 'index.ts'), join(folder, 'index.ts'))
  await mkdir(join(folder, 'index.js'))
  await symlink('/dev/zero', join(folder, 'site.ts'))
  await expect(read(`file:${folder}`)).rejects.toMatchObject(refused('index.js or index.ts is missing'))
  await writeFile(join(folder, 'plugin.json'), '{"name": "Sly", "main": "../../outside/index.ts"}')
  await expect(read(`file:${folder}`)).rejects.toMatchObject(refused('is missing'))
})

test('more than 5 MB, and what is no text', async () => {
  const folder = join(root, 'large')
  await write(folder, { ...APP, 'index.ts': Buffer.alloc(5 * 1024 * 1024, 'x') })
  await expect(read(`file:${folder}`)).rejects.toMatchObject(refused('5 MB'))
  await writeFile(join(folder, 'index.ts'), Buffer.from([0xff]))
  await expect(read(`file:${folder}`)).rejects.toMatchObject(refused('UTF-8'))
})

test('without the setting there are none', async () => {
  const refusal = readLocalSource({ plugins_folder: null }, `file:${root}/my%20app`)
  await expect(refusal).rejects.toMatchObject(refused('takes no apps'))
  const gone = readLocalSource({ plugins_folder: join(base, 'gone') }, `file:${root}/my%20app`)
  await expect(gone).rejects.toMatchObject(refused('takes no apps'))
})
