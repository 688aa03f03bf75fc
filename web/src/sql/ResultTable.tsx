// The rows of an answer. A row opens with every value in full.
import { Stack, Text, Title } from '@mantine/core'
import { useMemo } from 'react'
import { timeTitle } from '../ui/format'
import { DataTable, type Column } from '../ui/DataTable'
import { Details } from '../ui/Details'
import { Empty } from '../ui/States'
import { CopyIcon } from '../ui/Values'
import { columnKind, numberOf, type ColumnKind } from './result'
import classes from './Sql.module.css'
import { cellText, instantText, valueText } from './text'
import type { Answered, Sql } from './use-sql'

type Row = { index: number; values: readonly unknown[] }

/** What a column takes at least, in pixels; the room that is left is shared. */
const WIDTHS: Record<ColumnKind, string> = {
  time: 'minmax(190px, 1fr)',
  day: 'minmax(110px, 1fr)',
  number: 'minmax(96px, 1fr)',
  text: 'minmax(150px, 2fr)',
  other: 'minmax(240px, 3fr)',
}

export function ResultTable({ sql, result }: { sql: Sql; result: Answered }) {
  const rows = useMemo(() => result.rows.map((values, index): Row => ({ index, values })), [result])
  const columns = useMemo(
    () =>
      result.columns.map((title, at): Column<Row> => {
        const kind = columnKind(result.types[at]!)
        return {
          key: String(at),
          title: <span title={`${title}, ${result.types[at]}`}>{title}</span>,
          width: WIDTHS[kind],
          ...(kind === 'number' ? { align: 'end' } : {}),
          cell: ({ values }) => <Cell value={values[at]} kind={kind} />,
        }
      }),
    [result],
  )
  const open = sql.search.row === undefined ? undefined : rows[sql.search.row]
  if (rows.length === 0)
    return (
      <div className={classes.pad}>
        <Empty title="No rows">
          The query ran and found nothing. A wider time range or fewer conditions may.
        </Empty>
      </div>
    )
  return (
    <div className={classes.table}>
      <DataTable
        label="Result"
        columns={columns}
        rows={rows}
        rowKey={({ index }) => String(index)}
        onOpen={({ index }) => sql.show({ row: index }, true)}
        {...(open ? { openKey: String(open.index) } : {})}
        isCompact
        height="100%"
      />
      <Details
        isOpen={open !== undefined}
        onClose={() => sql.show({ row: undefined })}
        title={`Row ${(open?.index ?? 0) + 1}`}
      >
        {open && <WholeRow result={result} row={open} />}
      </Details>
    </div>
  )
}

function Cell({ value, kind }: { value: unknown; kind: ColumnKind }) {
  if (value === null) return <span className="quiet">null</span>
  if (kind === 'number') return <>{cellNumber(value)}</>
  if (kind === 'time' && typeof value === 'string' && !Number.isNaN(Date.parse(value)))
    return <span title={timeTitle(new Date(value).toISOString())}>{instantText(value)}</span>
  return <span className={kind === 'other' ? 'mono' : undefined}>{cellText(value)}</span>
}

/** Grouped where nothing is lost by it: integers beyond 2^53 and fractions stay as they came. */
function cellNumber(value: unknown): string {
  const number = numberOf(value)
  return number !== null && Number.isSafeInteger(number) ? number.toLocaleString('en') : valueText(value)
}

function WholeRow({ result, row }: { result: Answered; row: Row }) {
  return (
    <Stack gap="md">
      {result.columns.map((name, at) => {
        const value = row.values[at]
        return (
          <section key={at}>
            <div className={classes.field}>
              <Title order={3}>{name}</Title>
              <span className="quiet">{result.types[at]}</span>
              {value !== null && <CopyIcon value={valueText(value)} label={`Copy ${name}`} />}
            </div>
            {value === null ? (
              <Text c="dimmed">null</Text>
            ) : (
              <pre className={`mono ${classes.whole}`}>{wholeText(value)}</pre>
            )}
          </section>
        )
      })}
    </Stack>
  )
}

/** JSON on lines of its own, also when it came as text. */
function wholeText(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value, null, 2)
  if (!/^[[{]/.test(value)) return value
  try {
    return JSON.stringify(JSON.parse(value), null, 2)
  } catch {
    return value
  }
}
