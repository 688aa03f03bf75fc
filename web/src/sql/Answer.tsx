// The lower pane: what the query answered, as a table, chart or number, with one quiet line of facts above it.
import { Button, Group, SegmentedControl, Title, UnstyledButton } from '@mantine/core'
import { useMemo } from 'react'
import { Chart } from '../ui/chart/Chart'
import { countText, durationText } from '../ui/format'
import { Icon } from '../ui/Icon'
import { done } from '../ui/notify'
import { Empty, Failed, Loading } from '../ui/States'
import { Tip } from '../ui/Tip'
import { Count } from '../ui/Values'
import { EXAMPLES } from './examples'
import { saveFile } from '../ui/save-file'
import { VIEWS, type View } from './address'
import { chartOf, numbersOf, pickView, viewDenials } from './result'
import { ResultTable } from './ResultTable'
import classes from './Sql.module.css'
import { csvOf, jsonOf } from './text'
import type { Answered, Sql } from './use-sql'

const VIEW_NAMES: Record<View, string> = { table: 'Table', line: 'Line', bar: 'Bars', number: 'Number' }

export function Answer({ sql }: { sql: Sql }) {
  const { result, failure, isRunning, isRefused, asked } = sql
  if (isRunning)
    return (
      <div className={classes.pad}>
        <Loading rows={6} label="The query is running" />
      </div>
    )
  if (failure !== null)
    return (
      <div className={classes.pad}>
        <Failed what="The query failed" error={failure} onRetry={() => sql.runText(asked!)} />
      </div>
    )
  if (result !== undefined) return <Answered sql={sql} result={result} />
  if (isRefused)
    return (
      <div className={classes.pad}>
        <Empty title="The query was not run">What is wrong with it stands below the editor.</Empty>
      </div>
    )
  return (
    <div className={classes.pad}>{asked === undefined ? <Start sql={sql} /> : <Cancelled sql={sql} />}</div>
  )
}

function Start({ sql }: { sql: Sql }) {
  return (
    <section className={classes.start}>
      <Title order={2}>Ask the events of this project</Title>
      <p className="quiet">Write a query above and run it, or start from one of these.</p>
      <ul className={classes.examples}>
        {EXAMPLES.map(({ title, text }) => (
          <li key={title}>
            <UnstyledButton className={classes.example} onClick={() => sql.runText(text)}>
              <span>{title}</span>
              <span className={`mono cut ${classes.excerpt}`}>{text.replace(/\s+/g, ' ')}</span>
            </UnstyledButton>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Cancelled({ sql }: { sql: Sql }) {
  return (
    <Empty
      title="The query was cancelled"
      action={
        <Button variant="default" onClick={() => sql.runText(sql.asked!)}>
          Run it again
        </Button>
      }
    >
      It was stopped before it answered.
    </Empty>
  )
}

function Answered({ sql, result }: { sql: Sql; result: Answered }) {
  const denials = useMemo(() => viewDenials(result), [result])
  const picked = useMemo(() => pickView(result), [result])
  const wanted = sql.search.view
  const view = wanted !== undefined && denials[wanted] === null ? wanted : picked
  return (
    <>
      <div className={classes.bar}>
        <SegmentedControl
          aria-label="Shown as"
          size="xs"
          value={view}
          onChange={(next) => sql.show({ view: next === picked ? undefined : next, row: undefined })}
          data={VIEWS.map((value) => ({
            value,
            label: <ViewName view={value} denial={denials[value]} />,
            disabled: denials[value] !== null,
          }))}
        />
        <Facts sql={sql} result={result} />
        <Downloads result={result} />
      </div>
      <Shown sql={sql} result={result} view={view} />
    </>
  )
}

function ViewName({ view, denial }: { view: View; denial: string | null }) {
  return denial === null ? (
    VIEW_NAMES[view]
  ) : (
    <Tip label={denial}>
      <span>{VIEW_NAMES[view]}</span>
    </Tip>
  )
}

/** Run time, rows, and where properties of people came from. */
function Facts({ sql, result }: { sql: Sql; result: Answered }) {
  const { rows, ms, hasMore, limit } = result
  const facts = [
    `${countText(rows.length)} ${rows.length === 1 ? 'row' : 'rows'}${hasMore ? ', and there are more' : ''}`,
    durationText(ms / 1000),
    ...(hasMore ? [`LIMIT is ${countText(limit)}`] : []),
    ...(/\bperson\s*\.\s*properties\b/i.test(sql.asked ?? '') ? ['person properties as they are now'] : []),
    ...(sql.text === sql.asked ? [] : ['of the query before your changes']),
  ]
  return (
    <p className={classes.facts} role="status">
      {facts.join(' · ')}
    </p>
  )
}

function Downloads({ result }: { result: Answered }) {
  const save = (name: string, type: string, text: string) => {
    saveFile(name, type, text)
    done(`Saved ${countText(result.rows.length)} rows as ${name}.`)
  }
  const icon = <Icon name="download" size={14} />
  return (
    <Group gap="xs" wrap="nowrap">
      <Button
        size="compact-sm"
        variant="subtle"
        color="gray"
        leftSection={icon}
        aria-label="Download CSV"
        onClick={() => save('query.csv', 'text/csv', csvOf(result))}
      >
        CSV
      </Button>
      <Button
        size="compact-sm"
        variant="subtle"
        color="gray"
        leftSection={icon}
        aria-label="Download JSON"
        onClick={() => save('query.json', 'application/json', jsonOf(result))}
      >
        JSON
      </Button>
    </Group>
  )
}

function Shown({ sql, result, view }: { sql: Sql; result: Answered; view: View }) {
  if (view === 'table') return <ResultTable sql={sql} result={result} />
  if (view === 'number')
    return (
      <dl className={classes.numbers}>
        {numbersOf(result)!.map(({ label, value }, at) => (
          <div key={at} className={classes.number}>
            <dt>{label}</dt>
            <dd>
              <Count value={value} />
            </dd>
          </div>
        ))}
      </dl>
    )
  return <ResultChart result={result} view={view} />
}

function ResultChart({ result, view }: { result: Answered; view: 'line' | 'bar' }) {
  const { x, series, isSplit } = useMemo(() => chartOf(result)!, [result])
  return (
    // What is higher than the pane scrolls in it.
    <div
      className={classes.chart}
      tabIndex={x.kind === 'name' ? 0 : undefined}
      role={x.kind === 'name' ? 'region' : undefined}
      aria-label={x.kind === 'name' ? 'Result' : undefined}
    >
      <Chart
        label={`${series.map(({ label }) => label).join(', ')} by ${result.columns[0]}`}
        kind={view === 'bar' && isSplit ? 'stacked' : view}
        x={x}
        series={series}
        height="100%"
      />
    </div>
  )
}
