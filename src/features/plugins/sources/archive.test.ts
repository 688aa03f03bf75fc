import { createTar } from 'nanotar'
import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { zipFile, type ZipEntry } from '../../../../test/stand-ins/zip-file.ts'
import { MAX_UNPACKED_BYTES } from './archive.ts'
import { pickFiles } from './pick-files.ts'
import { openTarGz } from './tar.ts'
import { openZip } from './zip.ts'

const refused = (detail: RegExp | string) => ({
  status: 400,
  code: 'invalid_input',
  attr: 'url',
  detail: expect.stringMatching(detail),
})

/** How much this process has grown, in MB, after garbage was collected. */
async function growthOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage()
  await work()
  const after = process.memoryUsage()
  const total = (usage: NodeJS.MemoryUsage) => usage.heapUsed + usage.external
  return (total(after) - total(before)) / 1024 / 1024
}

describe('zip', () => {
  const top = { name: 'app-1/', mode: 0o040755 }
  const open = (entries: ZipEntry[]) => openZip(zipFile(entries))

  test('files below the top folder, whatever their depth and order', async () => {
    const files = await open([
      { name: 'app-1/dist/index.js', content: 'code' },
      top,
      { name: 'app-1/plugin.json', content: '{"name":"ü"}' },
      { name: 'app-1/plugin.json', content: 'a second one of the name' },
    ])
    expect(await files.read('plugin.json')).toBe('{"name":"ü"}')
    expect(await files.read('dist/index.js')).toBe('code')
    for (const path of ['index.js', 'dist', 'app-1/plugin.json', '', '../app-1/plugin.json']) {
      expect(await files.read(path)).toBeNull()
    }
  })

  test('links, absolute names and names that lead out are passed over', async () => {
    const files = await open([
      { name: 'app-1/plugin.json', content: '/etc/passwd', mode: 0o120777 },
      { name: 'app-1/../../index.js', content: 'x' },
      { name: '/etc/index.js', content: 'x' },
      { name: 'C:/index.js', content: 'x' },
      { name: '..\\index.js', content: 'x' },
      { name: '../', content: '' },
      { name: 'app-1/site.ts', content: 'x' },
    ])
    for (const path of ['plugin.json', 'index.js', 'etc/index.js']) expect(await files.read(path)).toBeNull()
    expect(await files.read('site.ts')).toBe('x')
  })

  test.each([
    ['two top folders', [{ name: 'a/plugin.json' }, { name: 'b/plugin.json' }], 'top folder'],
    ['no top folder', [{ name: 'plugin.json' }], 'top folder'],
    ['5001 entries', Array.from({ length: 5001 }, (_, n) => ({ name: `a/${n}` })), '5000 entries'],
  ] as [string, ZipEntry[], string][])('%s', async (_what, entries, detail) => {
    await expect(open(entries)).rejects.toMatchObject(refused(detail))
  })

  test('5000 entries pass', async () => {
    const files = await open(Array.from({ length: 5000 }, (_, n) => ({ name: `a/${n}`, content: String(n) })))
    expect(await files.read('4999')).toBe('4999')
  })

  test.each([
    ['an encrypted file', { is_encrypted: true, content: 'x' }, 'encrypted'],
    ['bytes that are no text', { content: Buffer.from([0xff, 0xfe, 0x00]) }, 'UTF-8'],
    ['NUL in text', { content: 'a\0b' }, 'not text'],
    ['more than it claims', { content: 'x'.repeat(5000), claimed_size: 10 }, 'cannot be read'],
    ['less than it claims', { content: 'x', claimed_size: 10 }, 'cannot be read'],
    ['a claim beyond the limit', { content: 'x', claimed_size: 2 ** 31 }, '5 MB'],
    ['too large a file', { content: Buffer.alloc(MAX_UNPACKED_BYTES + 1, 'x') }, '5 MB'],
  ] as [string, Partial<ZipEntry>, string][])('%s', async (_what, entry, detail) => {
    const files = await open([{ name: 'a/plugin.json', ...entry }])
    await expect(files.read('plugin.json')).rejects.toMatchObject(refused(detail))
  })

  test('the limit counts all files together, and exactly 5 MB pass', async () => {
    const files = await open([
      { name: 'a/one', content: Buffer.alloc(MAX_UNPACKED_BYTES - 1, 'x') },
      { name: 'a/two', content: 'x' },
      { name: 'a/three', content: 'x' },
    ])
    expect(await files.read('one')).toHaveLength(MAX_UNPACKED_BYTES - 1)
    expect(await files.read('two')).toBe('x')
    await expect(files.read('three')).rejects.toMatchObject(refused('5 MB'))
  })

  test('a bomb that claims to be small is stopped, not unpacked', async () => {
    const content = Buffer.alloc(64 * 1024 * 1024)
    const bomb = zipFile([{ name: 'a/plugin.json', content, claimed_size: 1000 }])
    const grown = await growthOf(async () => {
      const files = await openZip(bomb)
      await expect(files.read('plugin.json')).rejects.toMatchObject(refused('cannot be read'))
    })
    expect(grown).toBeLessThan(20)
  })

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['something else', Buffer.from('<html>not a zip at all, but long enough to be one</html>')],
    ['the first half', zipFile([{ name: 'a/b', content: 'x'.repeat(100) }]).subarray(0, 60)],
    ['the second half', zipFile([{ name: 'a/b', content: 'x'.repeat(100) }]).subarray(60)],
  ])('%s is no archive', async (_what, bytes) => {
    await expect(openZip(bytes).then((files) => files.read('b'))).rejects.toMatchObject(
      refused('cannot be read'),
    )
  })

  test('every cut and every flipped byte is a clear 400 or harmless', async () => {
    const whole = zipFile([top, { name: 'app-1/plugin.json', content: '{"name":"x"}' }])
    for (let at = 0; at < whole.length; at += 1) {
      const flipped = Buffer.from(whole)
      flipped[at] = flipped[at]! ^ 0xff
      for (const bytes of [whole.subarray(0, at), flipped]) {
        const outcome = await openZip(bytes)
          .then((files) => files.read('plugin.json'))
          .catch((error: unknown) => error)
        if (outcome instanceof Error) expect(outcome).toMatchObject({ status: 400, attr: 'url' })
      }
    }
  })
})

describe('tar.gz', () => {
  const open = (tar: Uint8Array) => openTarGz(gzipSync(tar))

  test('files below the top folder', async () => {
    const files = await open(
      createTar([
        { name: 'package/' },
        { name: 'package/plugin.json', data: '{"name":"ü"}' },
        { name: 'package/dist/index.js', data: 'x'.repeat(5000) },
        { name: 'package/empty.ts', data: '' },
      ]),
    )
    expect(await files.read('plugin.json')).toBe('{"name":"ü"}')
    expect(await files.read('dist/index.js')).toBe('x'.repeat(5000))
    expect(await files.read('empty.ts')).toBe('')
    expect(await files.read('index.js')).toBeNull()
  })

  test.each(['ustar', 'pax'])('a published package as the system packs it (%s)', async (format) => {
    const packages = fileURLToPath(new URL('../../../../node_modules/@posthog', import.meta.url))
    for (const [name, title] of [
      ['taxonomy-plugin', 'Taxonomy Plugin'],
      ['geoip-plugin', 'GeoIP'],
    ] as const) {
      const bytes = execFileSync('tar', [`--format=${format}`, '-czf', '-', '-C', packages, name])
      const { manifest, files } = await pickFiles(await openTarGz(bytes), null)
      expect(manifest.name).toBe(title)
      const code = await readFile(join(packages, name, manifest.main!), 'utf8')
      expect([...files]).toEqual([
        ['plugin.json', expect.stringContaining(title)],
        ['index.ts', code],
      ])
    }
  })

  test('long names by prefix, by pax record and by GNU entry', async () => {
    const files = await open(
      tarOf([
        { name: 'a.js', prefix: 'package/long', content: 'by prefix' },
        { type: 'g', name: 'pax_global_header', content: pax('comment', 'of git') },
        { type: 'x', name: 'PaxHeader', content: pax('path', 'package/ö b.js') + pax('a', 'b\nc=d') },
        { name: 'short', content: 'by pax record' },
        { type: 'L', name: '././@LongLink', content: 'package/gnu.js\0' },
        { name: 'short', content: 'by GNU entry' },
        { name: 'package/plain.js', content: 'plain' },
      ]),
    )
    expect(await files.read('long/a.js')).toBe('by prefix')
    expect(await files.read('ö b.js')).toBe('by pax record')
    expect(await files.read('gnu.js')).toBe('by GNU entry')
    expect(await files.read('plain.js')).toBe('plain')
  })

  test('links, devices, absolute names and names that lead out are passed over', async () => {
    const files = await open(
      tarOf([
        { type: '2', name: 'package/plugin.json', content: '' },
        { type: '1', name: 'package/site.ts', content: '' },
        { type: '3', name: 'package/index.ts', content: '' },
        { type: 'x', name: 'PaxHeader', content: pax('path', 'package/evil.ts') },
        { type: '2', name: 'package/link', content: '' },
        { name: 'package/../../frontend.tsx', content: 'x' },
        { name: '/etc/frontend.tsx', content: 'x' },
        { name: 'package/index.js', content: 'x' },
      ]),
    )
    for (const path of ['plugin.json', 'site.ts', 'index.ts', 'frontend.tsx', 'evil.ts', 'link']) {
      expect(await files.read(path)).toBeNull()
    }
    expect(await files.read('index.js')).toBe('x')
  })

  test.each([
    ['two top folders', tarOf([{ name: 'a/x' }, { name: 'b/x' }]), 'top folder'],
    ['5001 entries', tarOf(Array.from({ length: 5001 }, (_, n) => ({ name: `a/${n}` }))), '5000 entries'],
    [
      '5001 headers before the first file',
      tarOf(Array.from({ length: 5001 }, () => ({ type: 'g', name: 'g' }))),
      '5000 entries',
    ],
    ['a size that leads back', tarOf([{ name: 'a/x', size: '-0000001000' }]), 'cannot be read'],
    ['a size beyond the end', tarOf([{ name: 'a/x', size: '00000777777' }]), 'cannot be read'],
    ['a size in binary', tarOf([{ name: 'a/x', size: '\x80\0\0\0\0\0\0\0\0\0\x01' }]), 'cannot be read'],
    [
      'a record that is longer than all',
      tarOf([{ type: 'x', name: 'x', content: '99 path=a/b\n' }]),
      'cannot be read',
    ],
    ['a record of length 0', tarOf([{ type: 'x', name: 'x', content: '0 path=a/b\n' }]), 'cannot be read'],
    ['a record without a length', tarOf([{ type: 'x', name: 'x', content: 'path=a/b\n' }]), 'cannot be read'],
    ['a wrong sum', Buffer.from(tarOf([{ name: 'a/x' }])).fill('y', 0, 1), 'cannot be read'],
    ['no entry', Buffer.alloc(1024), 'cannot be read'],
    ['no tar', Buffer.from('x'.repeat(2000)), 'cannot be read'],
  ])('%s', async (_what, tar, detail) => {
    await expect(open(tar)).rejects.toMatchObject(refused(detail))
  })

  test('a bomb is stopped at 5 MB', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
    const grown = await growthOf(async () => {
      await expect(openTarGz(bomb)).rejects.toMatchObject(refused('5 MB'))
    })
    expect(grown).toBeLessThan(20)
  })

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['no gzip', Buffer.from('not packed')],
    ['the first half', gzipSync(tarOf([{ name: 'a/x', content: 'y'.repeat(600) }])).subarray(0, 60)],
  ])('%s is no archive', async (_what, bytes) => {
    await expect(openTarGz(bytes)).rejects.toMatchObject(refused('cannot be read'))
  })

  test('a tar that ends in the middle of a file', async () => {
    const tar = tarOf([{ name: 'a/x', content: 'y'.repeat(3000) }]).subarray(0, 1500)
    await expect(open(tar)).rejects.toMatchObject(refused('cannot be read'))
  })
})

function pax(key: string, value: string): string {
  const length = Buffer.byteLength(` ${key}=${value}\n`) + 2
  return `${length} ${key}=${value}\n`
}

type TarEntry = { name: string; type?: string; prefix?: string; content?: string; size?: string }

function tarOf(entries: readonly TarEntry[]): Buffer {
  const blocks = entries.map(({ name, type = '0', prefix = '', content = '', size }) => {
    const bytes = Buffer.from(content)
    const header = Buffer.alloc(512)
    header.write(name, 0)
    header.write('0000644\0', 100)
    header.write(size ?? bytes.length.toString(8).padStart(11, '0'), 124, 'latin1')
    header.write(' '.repeat(8), 148)
    header.write(type, 156)
    header.write('ustar\x0000', 257)
    header.write(prefix, 345)
    const sum = header.reduce((total, byte) => total + byte, 0)
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
    return Buffer.concat([header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)])
  })
  return Buffer.concat([...blocks, Buffer.alloc(1024)])
}
