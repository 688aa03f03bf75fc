// `longshore check-queries`: which of a team's saved queries would be answered here. It opens no store.
import type { Command } from '../command.ts'
import { checkSavedQuery, type Verdict } from './check.ts'
import { readSavedQueries } from './saved-queries.ts'

const MARKS = { runs: 'runs   ', differs: 'differs', fails: 'FAILS  ' }

export const checkQueries: Command = {
  name: 'check-queries',
  description: 'say which saved queries of PostHog run here: .sql files, and .json of insights',
  options(command) {
    command
      .argument('<file...>', 'SQL with ; between queries, or JSON: a query, an insight, or a listing of them')
      .option('--json', 'print the findings as JSON')
  },
  async run({ json }, files) {
    const verdicts: Verdict[] = []
    for (const file of files) {
      for (const saved of await readSavedQueries(file)) verdicts.push(await checkSavedQuery(saved))
    }
    const count = (state: Verdict['state']) => verdicts.filter((verdict) => verdict.state === state).length
    const summary = {
      queries: verdicts.length,
      runs: count('runs'),
      differs: count('differs'),
      fails: count('fails'),
    }
    const text = json
      ? JSON.stringify({ queries: verdicts, summary }, null, 2)
      : [...verdicts.map(lineOf), sentenceOf(summary)].join('\n')
    process.stdout.write(`${text}\n`)
    if (summary.fails > 0) process.exitCode = 1
  },
}

/** Names come from others: nothing in them moves the cursor. */
function lineOf({ file, name, line, column, state, details }: Verdict): string {
  // The lines of a query inside of JSON are those of its own text.
  const place = line === null ? [] : [`${line}:${column}`]
  const where = name === null ? [[file, ...place].join(':')] : [file, name, ...place]
  const what = [...where, ...(details.length > 0 ? [details.join('; ')] : [])]
  return `${MARKS[state]}  ${what.join(': ').replaceAll(/\p{Cc}+/gu, ' ')}`
}

function sentenceOf({ queries, runs, differs, fails }: Record<'queries' | Verdict['state'], number>): string {
  return `${queries} queries: ${runs} run, ${differs} differ, ${fails} fail`
}
