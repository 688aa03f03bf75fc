import { describe, expect, it } from 'vitest'
import { findToken, openEnvelope } from './envelope.ts'
import { Refusal } from './refusal.ts'

function outcome<T>(work: () => T): T | string {
  try {
    return work()
  } catch (error) {
    if (error instanceof Refusal)
      return error.fault.attr === null ? error.fault.code : `${error.fault.code} ${error.fault.attr}`
    throw error
  }
}

describe('openEnvelope', () => {
  const event = { event: 'a' }
  it.each<[string, unknown, unknown]>([
    [
      'a batch',
      { api_key: 'k', batch: [event, 5], sent_at: 's' },
      { items: [event, 5], fields: { api_key: 'k', sent_at: 's' }, path: ['batch', '1'] },
    ],
    ['a list', [event, 5], { items: [event, 5], fields: {}, path: ['1'] }],
    ['one event', event, { items: [event], fields: {}, path: [] }],
    ['an empty list', [], 'invalid_payload'],
    ['an empty batch', { api_key: 'k', batch: [] }, 'invalid_payload batch'],
    ['a batch that is no list', { api_key: 'k', batch: event }, 'invalid_payload batch'],
    ['null', null, 'invalid_payload'],
    ['a text', 'a', 'invalid_payload'],
  ])('%s', (_, body, expected) => {
    const opened = outcome(() => {
      const { items, fields, pathOf } = openEnvelope(body)
      return { items, fields, path: pathOf(1) }
    })
    expect(opened).toEqual(expected)
  })
})

describe('findToken', () => {
  it.each<[string, unknown, string]>([
    ['api_key of the batch', { api_key: 'phc_1', batch: [{ api_key: 'phc_2' }] }, 'phc_1'],
    ['token of the batch', { token: 'phc_1', batch: [{}] }, 'phc_1'],
    ['$token of the batch', { $token: 'phc_1', batch: [{}] }, 'phc_1'],
    ['null does not count', { api_key: null, token: 'phc_1', batch: [{}] }, 'phc_1'],
    ['of the batch’s events', { batch: [{ properties: { token: 'phc_1' } }, {}] }, 'phc_1'],
    ['api_key of an event', { api_key: 'phc_1', properties: { token: 'phc_2' } }, 'phc_1'],
    ['token of an event', { token: 'phc_1' }, 'phc_1'],
    ['$token of an event', { $token: 'phc_1' }, 'phc_1'],
    ['properties.token', { properties: { token: 'phc_1' } }, 'phc_1'],
    [
      'of a list that agrees',
      [{ token: 'phc_1' }, { api_key: ' phc_1 ' }, { properties: { token: 'phc_1' } }],
      'phc_1',
    ],
    ['of a list where one has it', [{}, 5, { token: 'phc_1' }], 'phc_1'],
    ['blanks are trimmed', { api_key: ' phc_1\n' }, 'phc_1'],
    ['any printable characters', { api_key: 'my key-1' }, 'my key-1'],
    ['64 characters', { api_key: 'k'.repeat(64) }, 'k'.repeat(64)],
    ['of a list that disagrees', [{ token: 'phc_1' }, { token: 'phc_2' }], 'invalid_api_key'],
    ['none', { event: 'a', properties: { api_key: 'phc_1' } }, 'missing_api_key'],
    ['none in a list', [{}, { event: 'a' }], 'missing_api_key'],
    ['empty', { api_key: '', batch: [{ token: 'phc_1' }] }, 'missing_api_key'],
    ['blank', { api_key: '  ' }, 'missing_api_key'],
    ['65 characters', { api_key: 'k'.repeat(65) }, 'invalid_api_key'],
    ['not ASCII', { api_key: 'phc_ü' }, 'invalid_api_key'],
    ['NUL', { api_key: 'phc_\0' }, 'invalid_api_key'],
    ['a personal key', { api_key: 'phx_1' }, 'invalid_api_key'],
    ['a number', { api_key: 5 }, 'invalid_api_key'],
    ['an object', { api_key: { a: 1 } }, 'invalid_api_key'],
  ])('%s', (_, body, expected) => {
    expect(outcome(() => findToken(openEnvelope(body), undefined))).toBe(expected)
  })

  it.each([
    ['counts where there is no other', { event: 'a' }, 'phc_form'],
    ['gives way to the event', { token: 'phc_1' }, 'phc_1'],
  ])('the form’s api_key %s', (_, body, expected) => {
    expect(findToken(openEnvelope(body), 'phc_form')).toBe(expected)
  })
})
