// What is said of saved queries; the command itself runs in test/end-to-end.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { checkSavedQuery } from './check.ts'
import { readSavedQueries } from './saved-queries.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-queries-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function check(name: string, content: string) {
  const file = join(folder, name)
  await writeFile(file, content)
  const verdicts = await Promise.all((await readSavedQueries(file)).map(checkSavedQuery))
  return verdicts.map(({ name: called, line, column, state, details }) => [
    called,
    line,
    column,
    state,
    ...details,
  ])
}

it('SQL files hold several, and semicolons in texts and comments end none', async () => {
  const text = `-- all; of them
select count() from events where event = 'a;b' /* ; */;
  select uniq(person_id), quantile(0.5)(properties.n) from events
;; -- nothing
select
  evnt from events; select evnt from events`
  expect(await check('a.sql', text)).toEqual([
    [null, 1, 1, 'runs'],
    [
      null,
      3,
      3,
      'differs',
      'uniq counts exactly; PostHog estimates',
      'quantile is exact; PostHog takes a sample of large groups',
    ],
    [null, 6, 3, 'fails', "Unknown field 'evnt'. Did you mean 'event'?"],
    [null, 6, 28, 'fails', "Unknown field 'evnt'. Did you mean 'event'?"],
  ])
  expect(await check('b.sql', ' \n-- nothing\n')).toEqual([])
  expect(await check('c.sql', "select 'a")).toEqual([[null, 1, 8, 'fails', expect.any(String)]])
})

const trends = (series: object) => ({
  kind: 'InsightVizNode',
  source: { kind: 'TrendsQuery', series: [series] },
})
const hogql = (query: string) => ({ kind: 'HogQLQuery', query })

it('a listing of insights, each by its name', async () => {
  const results = [
    { id: 1, name: 'Weekly', query: trends({ kind: 'EventsNode', event: '$pageview' }) },
    { id: 2, name: '', derived_name: 'By action', query: trends({ kind: 'ActionsNode', id: 5 }) },
    {
      id: 3,
      query: {
        kind: 'DataVisualizationNode',
        source: hogql('select 1,\n nothing from events where {filters}'),
      },
    },
    { short_id: 'old', query: null, filters: { events: [] } },
    {
      name: 'List',
      query: { kind: 'DataTableNode', source: { kind: 'EventsQuery', select: ['event'], personId: 'a' } },
    },
    { name: 'Paths', query: { kind: 'InsightVizNode', source: { kind: 'PathsQuery' } } },
    { name: 'Action', query: hogql('select count() from events where matchesAction(5)') },
    { name: 'Share', query: hogql('select count() from events sample 0.1 where person_id in cohort 5') },
  ]
  expect(await check('insights.json', JSON.stringify({ count: 8, next: null, results }))).toEqual([
    ['Weekly', null, null, 'runs'],
    ['By action', null, null, 'fails', expect.stringContaining('series__0__kind')],
    ['3', 2, 2, 'fails', "Unknown field 'nothing'."],
    ['old', null, null, 'fails', expect.stringContaining('It has no query')],
    ['List', null, null, 'runs'],
    ['Paths', null, null, 'fails', expect.stringContaining('not supported')],
    ['Action', 1, 34, 'fails', expect.stringContaining('There are no actions here')],
    ['Share', null, null, 'differs', expect.stringContaining('SAMPLE'), expect.stringContaining('cohorts')],
  ])
})

it('one query, one insight, a list, and texts', async () => {
  expect(await check('query.json', JSON.stringify(hogql('select 1')))).toEqual([
    ['query.json', null, null, 'runs'],
  ])
  expect(await check('insight.json', JSON.stringify({ name: 'x', query: hogql('select 1') }))).toEqual([
    ['x', null, null, 'runs'],
  ])
  expect(await check('list.json', JSON.stringify(['select 1', hogql('select'), 5]))).toEqual([
    ['#1', null, null, 'runs'],
    ['#2', 1, 7, 'fails', 'Expected an expression, found the end of the text.'],
    ['#3', null, null, 'fails', 'query: Expected an object here.'],
  ])
})

it('files that cannot be read', async () => {
  await expect(readSavedQueries(join(folder, 'none.sql'))).rejects.toThrow('none.sql cannot be read: ENOENT')
  await writeFile(join(folder, 'bad.json'), '{')
  await expect(readSavedQueries(join(folder, 'bad.json'))).rejects.toThrow('bad.json is no JSON')
})
