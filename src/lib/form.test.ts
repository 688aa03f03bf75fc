import { describe, expect, it } from 'vitest'
import { FormFault, readMultipart, readUrlEncoded } from './form.ts'

describe('readUrlEncoded', () => {
  it.each([
    'a=1&b=2',
    'a=1=2&=3&b',
    'a+b=c+d&a%20b=%2B',
    '&&a=1&&',
    'a=%F0%9F%98%80&b=%zz&c=%&d=%ff',
    'a=1&a=2',
    '',
  ])('reads like a browser: %j', (text) => {
    expect(readUrlEncoded(text)).toEqual([...new URLSearchParams(text)])
  })

  it('stops at a thousand fields', () => {
    expect(readUrlEncoded('a=1&'.repeat(1000))).toHaveLength(1000)
    expect(() => readUrlEncoded('a=1&'.repeat(1001))).toThrow(FormFault)
  })
})

describe('readMultipart', () => {
  const part = (name: string, rest = '') =>
    `--b\r\nContent-Disposition: form-data; name="${name}"${rest}\r\n\r\nx\r\n`
  const read = (text: string, type = 'multipart/form-data; boundary=b') =>
    readMultipart(Buffer.from(text), type)

  it('reads fields and files', async () => {
    const fields = await read(`${part('a')}${part('f', '; filename="f.txt"')}--b--\r\n`)
    expect(fields.map(([name]) => name)).toEqual(['a', 'f'])
    expect(fields[0]![1]).toBe('x')
    expect(fields[1]![1]).toBeInstanceOf(File)
  })

  it.each([
    ['too many parts', `${part('a').repeat(1001)}--b--\r\n`, undefined],
    ['endless headers', `--b\r\n${'a: b\r\n'.repeat(10_000)}\r\nx\r\n--b--\r\n`, undefined],
    ['a decoy for a boundary', part('a').repeat(1001), 'multipart/form-data; x-boundary=other; boundary=b'],
    ['no boundary', part('a'), 'multipart/form-data'],
    ['no type', part('a'), 'form'],
    ['no end', part('a'), undefined],
  ])('refuses %s', async (_, text, type) => {
    await expect(read(text, type)).rejects.toThrow(FormFault)
  })

  it('takes a thousand parts', async () => {
    expect(await read(`${part('a').repeat(1000)}--b--\r\n`)).toHaveLength(1000)
  })
})
