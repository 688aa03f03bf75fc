import { expect, test } from 'vitest'
import { madeEvent } from './fixture/event.ts'
import { semverFlattener } from './semver-flattener.ts'

test.each([
  ['1.2.3', { v__major: 1, v__minor: 2, v__patch: 3 }],
  ['v10.20.30', { v__major: 10, v__minor: 20, v__patch: 30 }],
  [' 1.2.3 ', { v__major: 1, v__minor: 2, v__patch: 3 }],
  ['22.7', { v__major: 22, v__minor: 7 }],
  ['5', { v__major: 5 }],
  ['1.2.3-alpha.1', { v__major: 1, v__minor: 2, v__patch: 3, v__preRelease: 'alpha.1' }],
  ['1.2.3+build.9', { v__major: 1, v__minor: 2, v__patch: 3, v__build: 'build.9' }],
  ['1.2.3-rc-1+a-b', { v__major: 1, v__minor: 2, v__patch: 3, v__preRelease: 'rc-1', v__build: 'a-b' }],
  ['1.2-beta', { v__major: 1, v__minor: 2, v__preRelease: 'beta' }],
  ['1.2.3.4', {}],
  ['1..2', {}],
  ['1.2.3-', {}],
  ['one', {}],
  ['', {}],
  ['1234567890.0.0', {}],
  [`1.2.3-${'a'.repeat(100_000)}!`, {}],
  [1.5, {}],
  [null, {}],
  [['1.2.3'], {}],
])('%.40j', (v, added) => {
  const event = semverFlattener.open({ properties: 'v, missing' })(madeEvent({ v, other: '9.9.9' }))
  expect(event?.properties).toEqual({ v, other: '9.9.9', ...added })
})

test('several properties, and none of names that every object has', () => {
  const event = semverFlattener.open({ properties: 'a,b,toString' })(madeEvent({ a: '1', b: '2' }))
  expect(event?.properties).toEqual({ a: '1', a__major: 1, b: '2', b__major: 2 })
})

test.each([undefined, '', 7])('without a list (%j) nothing happens', (properties) => {
  expect(semverFlattener.open({ properties })(madeEvent({ v: '1.2.3' }))?.properties).toEqual({
    v: '1.2.3',
  })
})
