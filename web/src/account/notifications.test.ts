import { expect, it } from 'vitest'
import { isMailed, settingOf, type Mail } from './notifications'

const MAILS: Mail[] = [
  { about: 'apps' },
  { about: 'exports', id: '7' },
  { about: 'members', id: 'an-organization' },
]

it.each(MAILS)('%j comes unless it was switched off', (mail) => {
  expect(isMailed({}, mail)).toBe(true)
  expect(isMailed(settingOf(mail, false), mail)).toBe(false)
  expect(isMailed(settingOf(mail, true), mail)).toBe(true)
})
