// What filters let pass, those of older versions too.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { buildIdFilter, idsThatMayBe, readsFor } from './id-filter.ts'

let folder: string
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'longshore-filter-'))))
afterEach(() => rm(folder, { recursive: true, force: true }))

const named = (count: number, letter: string) =>
  Array.from({ length: count }, (_, index) => ({ id: String(index).padStart(16, letter) }))

async function passed(filter: Buffer, asked: readonly { id: string }[]): Promise<number> {
  const path = join(folder, 'one.ids')
  await writeFile(path, filter)
  return idsThatMayBe(path, filter.length, asked).length
}

it.each([1, 20, 60_000])('lets all of its %i ids pass, and hardly a stranger', async (count) => {
  const own = named(count, 'x')
  const filter = buildIdFilter(
    own.map(({ id }) => id),
    count,
  )
  expect(await passed(filter, own)).toBe(count)
  expect(await passed(filter, named(100_000, 'y'))).toBeLessThan(20)
})

it('of an older version still lets its own pass', async () => {
  const old = 'GQiIlWACA1IAgAmmAGABkqAgTAGggIBAMSVmFFhiAGMVhAoERbgHHsgaUMAJQAc+YYYiEgAGgDkUQogIGaAgIA=='
  const filter = Buffer.from(old, 'base64')
  expect(await passed(filter, named(20, 'x'))).toBe(20)
  expect(await passed(filter, named(1_000, 'y'))).toBeLessThan(20)
})

it('is read once for ids that lie together', () => {
  expect([readsFor(65, 3), readsFor(65, 0), readsFor(2 ** 20, 3), readsFor(2 ** 20, 1_500)]).toEqual([
    1, 0, 3, 64,
  ])
})
