import { describe, expect, it } from 'vitest'
import { snippets } from './snippets.ts'

const PLACE = { host: 'https://longshore.example.com', token: 'phc_abc123' }
const all = snippets(PLACE)

it('there is one for each of the thirteen ways in', () => {
  expect(all.map(({ name }) => name)).toEqual([
    'Web page',
    'Node',
    'Python',
    'Go',
    'Ruby',
    'PHP',
    'Java',
    '.NET',
    'iOS',
    'Android',
    'Flutter',
    'React Native',
    'curl',
  ])
  expect(new Set(all.map(({ id }) => id)).size).toBe(13)
})

describe.each(all)('$name', ({ steps }) => {
  const code = steps.map((step) => step.code).join('\n')
  it('has the address and the token', () => {
    expect(code).toContain(PLACE.host)
    expect(code).toContain(PLACE.token)
  })
  it('leaves nothing to fill in, and names no other server', () => {
    expect(code).not.toMatch(/posthog\.com\/(?!posthog)|YOUR_|<ph_|undefined|\.\.\.|i\.posthog\.com/)
  })
})
