import { describe, expect, it } from 'vitest'
import { couldShareNames, type Named } from './shared-names.ts'

const named = (prefix: string, fields: Partial<Named> = {}): Named => ({
  place: 's3://bucket',
  prefix,
  model: 'events',
  batch_export_id: '01900000-0000-7000-8000-000000000001',
  ...fields,
})

describe('files of two exports', () => {
  it.each([
    ['out', 'out'],
    ['out', '/out/'],
    ['a//b', 'a/b'],
    ['a/b//', 'a/b'],
    ['a/b///', '//a/b/'],
    ['', '/'],
    ['{year}/{month}', '{year}/{day}'],
    ['out/{year}', 'out/2026'],
    ['{table}', 'events'],
    ['{data_interval_start}', 'START'],
    ['{data_interval_start}', '{data_interval_end}'],
    ['{hour}{minute}', '{year}'],
  ])('%j and %j could bear the same names', (one, other) => {
    expect(couldShareNames(named(one), named(other))).toBe(true)
    expect(couldShareNames(named(other), named(one))).toBe(true)
  })

  it.each([
    ['out', 'in'],
    ['out', 'out/more'],
    ['out/{year}', 'out/new!'],
    ['{year}', '{month}'],
    ['{table}', 'persons'],
    ['{data_interval_end}', 'START'],
  ])('%j and %j could not', (one, other) => {
    expect(couldShareNames(named(one), named(other))).toBe(false)
  })

  it('are apart in another bucket, by their export, and by their model where the prefix names it', () => {
    expect(couldShareNames(named('out'), named('out', { place: 's3://other' }))).toBe(false)
    const second = { batch_export_id: '01900000-0000-7000-8000-000000000002' }
    expect(couldShareNames(named('{export_id}'), named('{export_id}', second))).toBe(false)
    expect(couldShareNames(named('{table}'), named('{table}', { model: 'persons' }))).toBe(false)
    expect(couldShareNames(named('out'), named('out', { model: 'persons' }))).toBe(true)
  })
})
