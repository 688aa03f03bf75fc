import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isUuid, randomUuid, uuid5, uuid7 } from './uuid.ts'

describe('isUuid', () => {
  it.each([
    ['018f4e6c-1c00-7abc-8def-0123456789ab', true, 'version 7'],
    ['018F4E6C-1C00-7ABC-8DEF-0123456789AB', true, 'upper case'],
    ['01234567-89ab-cdef-0123-456789abcdef', true, 'no version bits, as older ids of PostHog'],
    ['00000000-0000-0000-0000-000000000000', true, 'all zeros'],
    ['', false, 'nothing'],
    ['@current', false, 'an alias'],
    ['018f4e6c1c007abc8def0123456789ab', false, 'without dashes'],
    ['{018f4e6c-1c00-7abc-8def-0123456789ab}', false, 'in braces'],
    ['018f4e6c-1c00-7abc-8def-0123456789a', false, 'one digit short'],
    ['018f4e6c-1c00-7abc-8def-0123456789ag', false, 'a letter beyond f'],
    ['018f4e6c-1c00-7abc-8def-0123456789ab\n', false, 'a line break behind it'],
  ])('%j: %s (%s)', (text, expected) => {
    expect(isUuid(text)).toBe(expected)
  })
})

describe('uuid7', () => {
  const instants = fc.date({ min: new Date(0), max: new Date(2 ** 47), noInvalidDate: true })

  it('carries version, variant and the instant', () => {
    fc.assert(
      fc.property(instants, (now) => {
        const id = uuid7(now)
        expect(isUuid(id)).toBe(true)
        expect(id[14]).toBe('7')
        expect('89ab').toContain(id[19])
        expect(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toBe(now.getTime())
      }),
    )
  })

  it('sorts by the time it was made at', () => {
    fc.assert(
      fc.property(instants, instants, (a, b) => {
        fc.pre(a.getTime() !== b.getTime())
        expect(uuid7(a) < uuid7(b)).toBe(a < b)
      }),
    )
  })

  it('never repeats within one instant', () => {
    const now = new Date('2026-01-01')
    expect(new Set(Array.from({ length: 10_000 }, () => uuid7(now))).size).toBe(10_000)
  })
})

describe('uuid5', () => {
  const DNS = '6ba7b810-9dad-11d1-80b4-00c04fd430c8'

  // The first is the example of RFC 9562, appendix A.4; the others were made with Python's uuid module.
  it.each([
    [DNS, 'www.example.com', '2ed6657d-e927-568b-95e1-2665a8aea6a2'],
    ['932979b4-65c3-4424-8467-0b66ec27bc22', '1:user@example.com', '55379864-2afb-5e1c-adf7-decb022461c5'],
    ['932979b4-65c3-4424-8467-0b66ec27bc22', '2:user@example.com', '689656f4-631a-57af-9696-0bf9b099affd'],
    ['932979b4-65c3-4424-8467-0b66ec27bc22', '1:', 'a29d8c7e-43ad-58a0-b250-c139a25aa918'],
    ['932979b4-65c3-4424-8467-0b66ec27bc22', '1:käfer 🪲', 'c86a9ec4-bd6b-535d-99e1-c9fb853c7513'],
  ])('%s %j: %s', (namespace, name, expected) => {
    expect(uuid5(namespace, name)).toBe(expected)
    expect(isUuid(expected)).toBe(true)
  })
})

describe('randomUuid', () => {
  it('is version 4 and tells nothing of the time', () => {
    const ids = Array.from({ length: 1000 }, () => randomUuid())
    expect(ids.every((id) => isUuid(id) && id[14] === '4')).toBe(true)
    expect(new Set(ids.map((id) => id.slice(0, 4))).size).toBeGreaterThan(900)
  })
})
