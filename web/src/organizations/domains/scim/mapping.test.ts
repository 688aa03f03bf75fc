import { expect, it } from 'vitest'
import { mappingOf, mappingText } from './mapping.ts'

it.each([
  [{ level: null, projects: [] }, 'nothing yet'],
  [{ level: 1, projects: [1] }, 'member, one project'],
  [{ level: 8, projects: [1, 2] }, 'admin, 2 projects'],
])('%j reads %s', (mapping, text) => {
  expect(mappingText(mapping)).toBe(text)
})

it('is sent without the projects that it does not open', () => {
  expect(mappingOf({ level: '', projects: { 1: 'none', 2: 'admin' } })).toEqual({
    level: null,
    projects: [{ id: 2, level: 'admin' }],
  })
  expect(mappingOf({ level: '8', projects: {} })).toEqual({ level: 8, projects: [] })
})
