// The table of docs/security.md: every hole, and how many attacks go for it.
import { HOLES } from '../../test/attacks/holes.ts'
import { SUITES } from '../../test/attacks/suites.ts'

export function securityTable(): string {
  const attacks = Object.values(SUITES).flatMap((suite) => suite.attacks.map(({ hole }) => hole))
  const rows = HOLES.map(({ id, title, seen, rule, guard }) => {
    const count = attacks.filter((hole) => hole === id).length
    return [id, title, seen, rule, guard ?? String(count)]
  })
  const header = ['', 'Hole', 'Where it was seen', 'What is done here', 'Attacks']
  const total = ['', 'all', '', '', String(attacks.length)]
  return aligned([header, ...rows, total])
}

/** As the formatter writes tables, so that both agree. */
function aligned(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(3, ...rows.map((row) => row[column]!.length)))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`
  const [header, ...rest] = rows
  return [line(header!), line(widths.map((width) => '-'.repeat(width))), ...rest.map(line)].join('\n')
}
