// The key file: made once, closed to others, and never an empty one.
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readConfig } from './config.ts'
import { readSecretKey } from './secret-key.ts'

let folder: string
let file: string
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'longshore-key-')), 'data')
  file = join(folder, 'secret.key')
})
afterEach(() => rm(join(folder, '..'), { recursive: true }))

const read = (env: Record<string, string> = {}) => readSecretKey(readConfig({ DATA_DIR: folder, ...env }))

test('is made at first use, in a folder of its own, and stays the same', async () => {
  const key = read()
  expect(key).toMatch(/^[0-9a-f]{64}$/)
  expect(await readFile(file, 'utf8')).toBe(`${key}\n`)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await readdir(folder)).toEqual(['secret.key'])
  expect(read()).toBe(key)
})

test('is closed again when somebody opened it to others', async () => {
  const key = read()
  await chmod(file, 0o644)
  expect(read()).toBe(key)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
})

test('is not looked at, nor made, when SECRET_KEY is given', async () => {
  expect(read({ SECRET_KEY: 'k'.repeat(32) })).toBe('k'.repeat(32))
  await expect(readdir(folder)).rejects.toThrow('ENOENT')
})

test.each(['', '\n', 'short\n'])('is refused when damaged, and not replaced: %j', async (text) => {
  read()
  await writeFile(file, text)
  expect(() => read()).toThrow(/secret\.key is damaged/)
  expect(await readFile(file, 'utf8')).toBe(text)
})
