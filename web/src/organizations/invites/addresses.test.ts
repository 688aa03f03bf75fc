import { expect, it } from 'vitest'
import { Failure } from '../../api/failure'
import { aboutOne, readAddresses } from './addresses'

it.each([
  ['ada@example.com', [{ target_email: 'ada@example.com', first_name: '' }]],
  [
    ' ada@example.com,\n\ngrace@example.com;alan@example.com ',
    ['ada', 'grace', 'alan'].map((name) => ({ target_email: `${name}@example.com`, first_name: '' })),
  ],
  ['"Ada Lovelace" <ada@example.com>', [{ target_email: 'ada@example.com', first_name: 'Ada' }]],
  ['Grace <grace@example.com>', [{ target_email: 'grace@example.com', first_name: 'Grace' }]],
  ['not an address', [{ target_email: 'not an address', first_name: '' }]],
  [' \n ', []],
])('reads %j', (text, invitees) => {
  expect(readAddresses(text)).toEqual(invitees)
})

it('says which address was refused, and leaves other refusals alone', () => {
  const invitees = readAddresses('ada@example.com, grace@example')
  const one = aboutOne(new Failure(400, 'invalid_input', 'This is no address.', '1__target_email'), invitees)
  expect(one).toMatchObject({ message: 'grace@example: This is no address.', attr: '1__target_email' })
  const whole = new Failure(403, 'permission_denied', 'No.')
  expect(aboutOne(whole, invitees)).toBe(whole)
})
