// Records what ClickHouse answers to the cases of src/hogql/differential, for the test that asks DuckDB the same.
//   npm run hogql:oracle                 records cases that have no answer yet, and forgets those that are gone
//   npm run hogql:oracle -- --again      records every case anew; names of areas pick some of them
//   npm run hogql:oracle -- --verify     records nothing, and fails where an answer is another one now
import { writeFileSync } from 'node:fs'
import { AREAS, casesOf, recordedFile, recordedOf, type Answer } from '../../src/hogql/differential/cases.ts'
import { openClickhouse } from '../../src/hogql/differential/fixture/on-clickhouse.ts'

/** Asked between two times of saving. */
const PORTION = 60

const words = process.argv.slice(2)
const isVerifying = words.includes('--verify')
const isAgain = isVerifying || words.includes('--again')
const named = words.filter((word) => !word.startsWith('--'))

const clickhouse = await openClickhouse()
for (const area of named.length > 0 ? named : AREAS) await record(area)
await clickhouse.close()

async function record(area: string) {
  const recorded = recordedOf(area)
  const cases = casesOf(area)
  const asked = cases.filter(({ key }) => isAgain || !recorded.has(key))
  const answers = new Map(recorded)
  for (let at = 0; at < asked.length; at += PORTION) {
    const portion = asked.slice(at, at + PORTION)
    await clickhouse.ask(portion, ({ key }, answer) => void answers.set(key, answer))
    if (!isVerifying) save(area, answers)
  }
  if (!isVerifying) save(area, answers)
  const changed = asked.filter(({ key }) => written(answers.get(key)) !== written(recorded.get(key)))
  process.stdout.write(`${area}: ${cases.length} cases, ${asked.length} asked, ${changed.length} changed\n`)
  for (const { key } of cases.filter((one) => !answers.has(one.key))) {
    process.stdout.write(`  not HogQL: ${key}\n`)
    process.exitCode = 1
  }
  if (!isVerifying || changed.length === 0) return
  process.exitCode = 1
  for (const { key } of changed) process.stdout.write(`  ${key}\n    ${JSON.stringify(answers.get(key))}\n`)
}

/** JSON has no -0: an answer is compared as it is read back. */
function written(answer: Answer | undefined): string | undefined {
  return JSON.stringify(answer)
}

/** In the order of the cases, one to a line. */
function save(area: string, answers: ReadonlyMap<string, Answer>) {
  const lines = casesOf(area).flatMap(({ key }) => {
    const answer = answers.get(key)
    return answer ? [`  ${JSON.stringify(key)}: ${written(answer)}`] : []
  })
  writeFileSync(recordedFile(area), `{\n${lines.join(',\n')}\n}\n`)
}
