// `longshore verify`: reads back what exports have delivered and compares it with their events. Also beside a server, which
// then does the work.
import { groupBy } from '../../lib/group-by.ts'
import { oneLine } from '../../features/batch-exports/logs/write.ts'
import type { ExportRow } from '../../features/batch-exports/rows.ts'
import type { VerificationRow } from '../../features/batch-exports/verification/rows.ts'
import { UserError, type Command } from '../command.ts'
import { takeInstalledConfig } from '../environment.ts'
import { inDigits, tableOf } from '../terminal/progress.ts'
import { stopSignal } from '../terminal/stop-signal.ts'
import { findExports } from './find-export.ts'
import { withStores } from './open-workspace.ts'
import { verifyExports } from './verify-exports.ts'

export const verify: Command = {
  name: 'verify',
  description: 'read back what exports have delivered and compare it with their events',
  options(command) {
    command.argument('[id]', 'id of an export (default: all exports)')
  },
  async run(_options, [id]) {
    const signal = stopSignal()
    await withStores(await takeInstalledConfig(), async (db, services) => {
      const total = { exports: 0, runs: 0, files: 0, rows: 0, bytes: 0, problems: 0 }
      const unread: string[] = []
      const unclear: string[] = []
      const add = (row: ExportRow, result: VerificationRow) => {
        total.exports++
        for (const figure of ['runs', 'files', 'rows', 'bytes'] as const) total[figure] += result[figure]
        total.problems += result.problems_count
        if (result.verdict === null || result.verdict === 'unreachable') unread.push(oneLine(row.name))
        if (result.verdict === 'unclear') unclear.push(oneLine(row.name))
        tell(row, result)
      }
      await verifyExports(db, services, await findExports(db, id), signal, add)
      process.stdout.write(tableOf(Object.entries(total)))
      if (unread.length > 0) throw new UserError(`could not be verified: ${unread.join(', ')}`)
      if (total.problems === 1) throw new UserError('1 problem was found')
      if (total.problems > 0) throw new UserError(`${inDigits(total.problems)} problems were found`)
      if (unclear.length > 0)
        throw new UserError(
          `whether all is well cannot be told, for the reasons above: ${unclear.join(', ')}`,
        )
    })
  },
}

/** One lost range of rows is thousands of problems of a kind; other kinds must not go under in them. */
const MOST_OF_A_KIND = 10

/** Names come from users and from destinations. */
function tell({ name }: ExportRow, { problems, problem_kinds, notes }: VerificationRow): void {
  const lines = [...groupBy(problems, ({ kind }) => kind)].flatMap(([kind, found]) => {
    const shown = found.slice(0, MOST_OF_A_KIND)
    const hidden = (problem_kinds[kind] ?? 0) - shown.length
    return [
      ...shown.map(({ file, uuid, message, what_to_do }) =>
        [`${name}: ${kind}`, file, uuid, message, what_to_do].filter((part) => part !== null).join(' · '),
      ),
      ...(hidden > 0 ? [`${name}: ${kind} · and ${inDigits(hidden)} more of these`] : []),
    ]
  })
  lines.push(...notes.map((note) => `${name}: ${note}`))
  for (const line of lines) process.stdout.write(`${oneLine(line)}\n`)
}
