// zstd: against data packed by other encoders, cut up and damaged; by Node's own streams too where there are any.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeZstd } from '../fixture/packed-files.ts'
import { Random } from '../../sample/random.ts'
import { createZstdDecompress, decompressZstd } from './decompress.ts'

/** Packed by the program `zstd`. */
const PACKED: readonly (readonly [string, string, string])[] = [
  ['nothing', 'KLUv/SQAAQAAmenYUQ==', ''],
  [
    'copies, with a checksum',
    'KLUv/SQwjQAASGFiYy1oZWxsbwIAKVwxdENcBJeH',
    'abcabcabcabcabcabcabcabcabcabc-hello-hello-hello',
  ],
  [
    'no size in its header',
    'KLUv/QRYjQAASGFiYy1oZWxsbwIAKVwxdENcBJeH',
    'abcabcabcabcabcabcabcabcabcabc-hello-hello-hello',
  ],
  ['one character over and over', 'KLUv/WS4Ck0AABB4eAEAs/MBFlHkVV4=', 'x'.repeat(3000)],
  [
    'literals in four streams, without a checksum',
    'KLUv/WDUBHUTAEpdpAkLoMUNZNtkT6f/XgOWAJYAlgAbcIft2qbt2Zbt2O42t7cNtgPYBTaBPWAL2AF2wSbYAxuAHcIVpvCEJRzhhhleGIRDXTXVU0sddWvWq0Ed6KKJHlrooEuTHg3oMNdM88wyx9yZ82YwB7lkkkcWOeTKlCcDOcQVUzyxxBE3ZrwYxKFXpz5devR29nXQAy9OfLjw4OXk44CHXZv2bNmxu7m3wQ7X9CzHnS/jHef4xsF4ALwAJ8AHcAE8AC/gBHyAA8BD2BU2hT1hS9gRdsNm2AsbhB1qV22qPbWldtRubdZebVA70C7aRHtoC+2gXdqkPdqAdphds2n2zJbZMbuzOXuzwewgu2ST7JEtskN2ZVP2ZAPZIXbFptgTW2JH7MZm7MUGsUN3dVP3dEt3dLeb3esG3YG7uIl7uIU7uMtN7jEE+oAuoAfoBZ2gD3QAegi8AqfAJ3AJPAJv4Ax8gYPAQ/EqTsWnuBSP4i3O4isOigfiRZyID3EhHsRLnMRHHBAPw2s4DZ/hMjyGdziHbzgYHoSXcBI+wkV4CK9wCp9wIDwEr+AUfIJL8Aje4Ay+4CB4KK9yKp9yKY/ylrN85aA8kBc5kQ+5kAd5yUk+ckAexmucxmdcxiMDEIfQK3QKfUKX0CP0hs7QFzoIPVSv6lR9qkv1qN7qrL7qoHqgXtSJ+lAX6kG91El91AH1ML2m0/SZLtNjeqdz+qaD6UF6SSfpI12kh/RKp/RJB9JD9IpO0Se6RI/ojc7oiw6ih/Zqp/Zpl/Zobzvb1w7aA3uxE/uwC3uwl53sYwfsYb3WaX3WZT3Wu871rYP1AHqBHgA=',
    Array.from({ length: 400 }, (_, index) => `${index + 1} `).join(''),
  ],
]

const bytesOf = (base64: string) => Buffer.from(base64, 'base64')

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-zstd-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Larger than a window, of words that come back near and far. */
async function largeFile(): Promise<{ text: string; packed: Buffer }> {
  const random = new Random(11)
  const words = Array.from({ length: 3000 }, () => random.hex(random.between(1, 6)))
  let text = ''
  for (let line = 0; text.length < 12 * 1024 * 1024; line += 1) {
    const said = Array.from({ length: random.between(1, 30) }, () => random.pick(words)).join(' ')
    text += `${line} ${said}${'z'.repeat(random.chance(0.02) ? 5000 : 0)}\n`
  }
  const path = join(folder, 'large.zst')
  await writeZstd(path, text)
  return { text, packed: await readFile(path) }
}

const DECODERS: [string, typeof createZstdDecompress | null][] = [['our decoder', null]]
if (createZstdDecompress) DECODERS.push(["Node's streams", createZstdDecompress])

describe.each(DECODERS)('zstd by %s', (_, openStream) => {
  async function unpack(bytes: Uint8Array, piece = 65_536): Promise<string> {
    const parts: Uint8Array[] = []
    for await (const part of decompressZstd(inPieces(bytes, piece), openStream)) parts.push(part)
    return Buffer.concat(parts).toString()
  }

  it.each(PACKED)('%s', async (_, packed, text) => {
    expect(await unpack(bytesOf(packed))).toBe(text)
    expect(await unpack(bytesOf(packed), 1)).toBe(text)
  })

  it('frames one after another, and what is to be skipped between them', async () => {
    const skipped = Buffer.concat([Buffer.from('502a4d1803000000', 'hex'), Buffer.from('abc')])
    const all = Buffer.concat([bytesOf(PACKED[1]![1]), skipped, bytesOf(PACKED[3]![1]), skipped])
    expect(await unpack(all, 7)).toBe(PACKED[1]![2] + PACKED[3]![2])
  })

  it('more than a window of it', async () => {
    const { text, packed } = await largeFile()
    expect(packed.length).toBeLessThan(text.length / 2)
    expect((await unpack(packed)) === text).toBe(true)
  })

  it.each([
    ['cut short', bytesOf(PACKED[4]![1]).subarray(0, 300), /ends too early/],
    [
      'followed by something else',
      Buffer.concat([bytesOf(PACKED[1]![1]), Buffer.from('else')]),
      /is not zstd/,
    ],
    ['with a dictionary', Buffer.from('28b52ffd2107010000', 'hex'), /needs a dictionary/],
    ['with a window of 2 GB', Buffer.from('28b52ffd00a8010000', 'hex'), /window over 128 MB/],
  ])('%s: says so', async (_, bytes, message) => {
    await expect(unpack(bytes)).rejects.toThrow(message)
  })

  it.runIf(openStream)('with another checksum: says so', async () => {
    const bytes = bytesOf(PACKED[1]![1])
    bytes[bytes.length - 1]! ^= 1
    await expect(unpack(bytes)).rejects.toThrow(/checksum/)
  })

  it('damaged anywhere: a plain error or other text, never a crash or an endless loop', async () => {
    const random = new Random(5)
    let errors = 0
    for (let round = 0; round < 400; round += 1) {
      const bytes = Buffer.from(bytesOf(PACKED[random.between(1, 4)]![1]))
      bytes[random.between(4, bytes.length - 1)] = random.between(0, 255)
      await unpack(bytes).catch((error: Error) => {
        expect(error.constructor.name).toMatch(/^(ZstdError|Error)$/)
        errors += 1
      })
    }
    expect(errors).toBeGreaterThan(50)
  })
})
