import { describe, expect, it } from 'vitest'
import { readJob } from './public-jobs.ts'

const offered = {
  export: {
    payload: {
      since: { type: 'date', required: true },
      range: { type: 'daterange' },
      size: { type: 'number', default: 10 },
      label: { type: 'string' },
      dry: { type: 'boolean', required: true, default: false },
      extra: { type: 'json' },
      force: { type: 'boolean', staff_only: true, required: true },
    },
  },
  ping: {},
}
const read = (job: unknown, is_staff = false) => readJob(offered, job, is_staff)

describe('readJob', () => {
  it('fills in defaults', () => {
    expect(read({ type: 'export', payload: { since: '2024-01-01' } })).toEqual({
      name: 'export',
      payload: { since: '2024-01-01', size: 10, dry: false },
    })
    expect(read({ type: 'ping', operation: 'start' })).toEqual({ name: 'ping', payload: {} })
  })

  it('takes what each parameter takes', () => {
    const payload = {
      since: '2024-01-01T00:00:00Z',
      range: ['2024-01-01', '2024-02-01'],
      size: 0.5,
      label: '',
      dry: true,
      extra: { any: ['thing'] },
    }
    expect(read({ type: 'export', payload }).payload).toEqual(payload)
  })

  it('lets staff set what only staff may', () => {
    expect(
      read({ type: 'export', payload: { since: '2024-01-01', force: true } }, true).payload,
    ).toMatchObject({
      force: true,
    })
    expect(() => read({ type: 'export', payload: { since: '2024-01-01' } }, true)).toThrow(
      expect.objectContaining({ attr: 'job__payload__force' }),
    )
  })

  it.each([
    ['no job', undefined, null],
    ['a text', 'ping', null],
    ['no type', { payload: {} }, null],
    ['a type that is no text', { type: 5 }, null],
    ['an unknown job', { type: 'other' }, 'job'],
    ['an inherited name', { type: 'constructor' }, 'job'],
    ['another operation', { type: 'ping', operation: 'stop' }, 'job'],
    ['a payload that is a list', { type: 'ping', payload: [] }, 'job'],
    ['an unknown key', { type: 'ping', payload: { a: 1 } }, 'job'],
    ['a key for staff', { type: 'export', payload: { since: '2024-01-01', force: true } }, 'job'],
    ['a missing key', { type: 'export', payload: {} }, 'job__payload__since'],
    ['null for a needed key', { type: 'export', payload: { since: null } }, 'job__payload__since'],
    ['no date', { type: 'export', payload: { since: 'soon' } }, 'job__payload__since'],
    [
      'half a range',
      { type: 'export', payload: { since: '2024-01-01', range: ['2024-01-01'] } },
      'job__payload__range',
    ],
    [
      'text for a number',
      { type: 'export', payload: { since: '2024-01-01', size: '5' } },
      'job__payload__size',
    ],
    [
      'too much',
      { type: 'export', payload: { since: '2024-01-01', extra: 'x'.repeat(65_536) } },
      'job__payload',
    ],
  ])('400 for %s', (_what, job, attr) => {
    expect(() => read(job)).toThrow(expect.objectContaining({ status: 400, attr }))
  })

  it('400 where nothing is offered', () => {
    for (const public_jobs of [null, {}, [], 'x']) {
      expect(() => readJob(public_jobs, { type: 'ping' }, false)).toThrow(
        expect.objectContaining({ attr: 'job' }),
      )
    }
  })
})
