// What the console's filters can ask is what the API takes, and no more.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { OPERATORS as KNOWN_HERE } from '../../src/features/events/filters/operators.ts'
import { OPERATORS, type Filter } from '../../web/src/events/filter.ts'
import { valueKind } from '../../web/src/events/operators.ts'
import { createOrganization, type Workspace } from '../factories.ts'
import { startTestApp, type TestApp } from '../harness/app.ts'

const VALUES = {
  many: ['Safari', '5'],
  text: ['^Sa'],
  number: ['5'],
  range: ['1', '5'],
  date: ['2026-01-02'],
  version: ['1.2.0'],
  none: [],
}

let app: TestApp
let workspace: Workspace
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
})
afterAll(() => app.close())

it('there are as many', () => expect([...OPERATORS].toSorted()).toEqual([...KNOWN_HERE.keys()].toSorted()))

it.each(OPERATORS)('%s takes the kind of value that the console asks for', async (operator) => {
  const filter: Filter = { type: 'event', key: 'version', operator, value: VALUES[valueKind(operator)] }
  const query = new URLSearchParams({ properties: JSON.stringify([filter]), limit: '1' })
  const url = `/api/projects/${workspace.project.id}/events/?${query.toString()}`
  expect((await app.get(url, { key: workspace.owner.key })).status).toBe(200)
})
