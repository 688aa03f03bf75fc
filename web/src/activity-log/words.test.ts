import { expect, it } from 'vitest'
import { actorText, changeText, entryText, valueText, type Entry } from './words'

const entry = (fields: object): Entry =>
  ({ is_system: false, actor: { name: 'ada@example.com', key_id: null }, ...fields }) as Entry

it('says who did what to which thing', () => {
  expect(entryText(entry({ activity: 'rolled', scope: 'ServiceAPIKey', detail: { name: 'deploy' } }))).toBe(
    'replaced the value of service key deploy',
  )
  expect(entryText(entry({ activity: 'flown_away', scope: 'Kite', detail: { name: null } }))).toBe(
    'flown away Kite',
  )
  expect(
    entryText(
      entry({ activity: 'deleted', scope: 'OrganizationInvite', detail: { name: 'bob@example.com' } }),
    ),
  ).toBe('took back invite bob@example.com')
  expect(actorText(entry({}))).toBe('ada@example.com')
  expect(actorText(entry({ is_system: true, actor: { name: 'system', key_id: null } }))).toBe('Longshore')
})

it.each([
  [null, 'nothing'],
  ['', 'nothing'],
  [false, 'no'],
  [0, '0'],
  [['a'], '[\n  "a"\n]'],
  ['<b>', '<b>'],
])('%j reads %s', (value, text) => {
  expect(valueText(value)).toBe(text)
})

it.each([
  ['plain', 'plain'],
  [12, '12'],
  [['a', 'b'], '["a","b"]'],
  [{ hour: 3, place: { bucket: 'b' } }, 'hour: 3, place: bucket: b'],
])('%j reads %s on one line', (value, text) => {
  expect(changeText(value)).toBe(text)
})
