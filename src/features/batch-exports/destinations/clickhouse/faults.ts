// What an error of ClickHouse's means for a run. Its numbers are the same in every version; its texts are not.
import type { OutboundAnswer } from '../../../../platform/outbound/call.ts'
import { Passing, Refused } from '../destination.ts'
import { retryAfterMs } from '../warehouse/call.ts'
import { said } from '../warehouse/said.ts'
import type { ClickHouseConfig } from './kind.ts'

/** Unknown user, wrong password, password missing, and the one that stands for all three. */
const LOGIN = new Set([192, 193, 194, 516])

/** A value that a column's type cannot hold. */
const MISFIT = new Set([6, 27, 38, 41, 53, 70, 72, 117, 131, 321, 349, 376, 407, 691])

/** Pass by themselves: what is missing now is there later, or comes back with the next attempt. */
const PASSING = new Map([
  [60, 'a table is gone: it was dropped meanwhile, or another attempt at this run has taken over'],
  [159, 'a statement took longer than its time limit'],
  [201, 'the quota of the user is used up'],
  [202, 'too many statements are running'],
  [209, 'a connection timed out'],
  [210, 'a connection was lost'],
  [225, 'Keeper cannot be reached'],
  [236, 'the statement was aborted'],
  [
    241,
    'a statement needs more memory than it may have: raise max_memory_usage, or choose a shorter interval',
  ],
  [242, 'the table is read-only for now'],
  [243, 'the disk is full'],
  [252, 'the table has too many parts that are not merged yet'],
  [285, 'too few replicas are alive'],
  [319, 'it is unknown whether the insert was kept'],
  [394, 'the statement was cancelled'],
  [473, 'a lock was not had in time'],
  [745, 'the server is overloaded'],
  [999, 'Keeper failed'],
])

export function failure(answer: OutboundAnswer, config: ClickHouseConfig): Error {
  const text = answer.body.toString('utf8').trim()
  const code = Number(/^Code: (\d+)\./.exec(text)?.[1] ?? Number.NaN)
  if (Number.isNaN(code)) return withoutCode(answer, text, config)
  const passing = PASSING.get(code)
  if (passing !== undefined)
    return new Passing(`ClickHouse: ${passing} (code ${code}).`, retryAfterMs(answer))
  return new Refused(refusal(code, text, config))
}

function refusal(code: number, text: string, config: ClickHouseConfig): string {
  if (LOGIN.has(code)) return 'ClickHouse does not accept this user with this password. Check both.'
  if (MISFIT.has(code)) {
    return `ClickHouse: a value does not fit the type of ${columnIn(text)} (code ${code}). Change the type to one that takes it, or export to another table.`
  }
  switch (code) {
    case 81:
      return `There is no database ${config.database} in ClickHouse. Create it, or choose another.`
    case 164:
      return 'This ClickHouse user may only read. Choose one who may create tables and insert into them.'
    case 469:
      return `ClickHouse: a row breaks ${constraintIn(text)} of the table. Drop the constraint, or leave such events out by a filter.`
    case 497:
      return says(text, config, 'Grant it to the user, or choose another.')
    default:
      return says(text, config)
  }
}

/** From a proxy before ClickHouse, or from another server altogether. */
function withoutCode(answer: OutboundAnswer, text: string, config: ClickHouseConfig): Error {
  const { status } = answer
  if (status === 408 || status === 429 || status >= 500) {
    return new Passing(`ClickHouse: the server answered with status ${status}.`, retryAfterMs(answer))
  }
  if (status < 400) {
    return new Refused(
      `ClickHouse: the address answers with status ${status}, and redirects are not followed. Use the address that it leads to.`,
    )
  }
  return new Refused(
    says(`the server answered with status ${status}${text === '' ? '' : `: ${text}`}`, config),
  )
}

/** `read stage: ColumnData: column: plan: …`, or ``while converting column `plan` from type …``. The rest quotes the value. */
function columnIn(text: string): string {
  const [, quoted, plain] = /\bcolumn:? (?:`([^`]+)`|([^\s:`]+):)/.exec(text) ?? []
  const name = quoted ?? plain
  return name === undefined ? 'its column' : `the column "${name}"`
}

function constraintIn(text: string): string {
  const name = /\bConstraint `([^`]+)`/.exec(text)?.[1]
  return name === undefined ? 'a constraint' : `the constraint "${name}"`
}

/** `Code: 60. DB::Exception: words. (NAME) (version 26.7.2.1)` without all that is not words. */
function says(text: string, { password }: ClickHouseConfig, advice?: string): string {
  const words = text
    .replaceAll(/Code: \d+\. /g, '')
    .replaceAll('DB::Exception: ', '')
    .replace(/\s*\(version .*$/s, '')
    .replaceAll(/\s*\([A-Z][A-Z0-9_]+\)/g, '')
  return said('ClickHouse', words, password === null ? [] : [password], advice)
}
