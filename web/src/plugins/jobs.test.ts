import { expect, it } from 'vitest'
import { payloadOf, readJobs } from './jobs.ts'

const [job] = readJobs({
  Sync: {
    payload: {
      from: { type: 'date', title: 'From', required: true },
      count: { type: 'number' },
      all: { type: 'boolean' },
      rules: { type: 'json' },
      between: { type: 'daterange' },
      secretly: { type: 'string', staff_only: true },
      name: { type: 'other' },
    },
  },
})

it('says what a job takes, but for what is not for everybody', () => {
  expect(job!.parameters.map(({ key, type, isRequired }) => [key, type, isRequired])).toEqual([
    ['from', 'date', true],
    ['count', 'number', false],
    ['all', 'boolean', false],
    ['rules', 'json', false],
    ['between', 'daterange', false],
    ['name', 'string', false],
  ])
  expect(readJobs(null)).toEqual([])
  expect(readJobs({ Bare: null })).toEqual([{ name: 'Bare', parameters: [] }])
})

it('makes values of texts', () => {
  const texts = {
    from: '2026-01-01',
    count: '3',
    all: 'true',
    rules: '[1]',
    between: '2026-01-01/2026-02-01',
    name: '',
  }
  expect(payloadOf(job!, texts)).toEqual({
    from: '2026-01-01',
    count: 3,
    all: true,
    rules: [1],
    between: ['2026-01-01', '2026-02-01'],
  })
  expect(() => payloadOf(job!, { rules: '{' })).toThrow(SyntaxError)
})
