// `longshore bench`: what this machine and its disk carry, on sample data in a folder that is removed afterwards.
import { mkdtemp, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { closeParts, compose } from '../../app/compose.ts'
import { runHogql } from '../../features/events/query/run.ts'
import { SAMPLE_EVENT_BYTES, sampleEvents } from '../../features/events/sample/sample-events.ts'
import { errorCode } from '../../lib/error-code.ts'
import { UserError, type Command } from '../command.ts'
import { inDigits } from '../terminal/progress.ts'
import {
  assertGoingOn,
  countOf,
  exportSample,
  rateLine,
  storeSample,
  timed,
  verifySample,
  withSample,
  type Format,
  type Sample,
} from './steps.ts'

const SINGLE_EVENTS = 200
const TIMES_ASKED = 20
const QUESTIONS: readonly { what: string; query: string }[] = [
  { what: 'list', query: 'select * from events order by timestamp desc limit 100' },
  {
    what: 'count',
    query: 'select properties.$browser, count(), uniq(person_id) from events group by 1 order by 2 desc',
  },
]
const FORMATS: readonly Format[] = [
  { file_format: 'Parquet', compression: 'zstd' },
  { file_format: 'JSONLines', compression: 'gzip' },
]

export const bench: Command = {
  name: 'bench',
  description: 'measure how fast this machine stores, queries and exports events',
  options(command) {
    command
      .option('--events <n>', 'number of events', '200000')
      .option('--folder <path>', 'a folder on the disk that is measured; nothing is left there', '.')
  },
  async run(options) {
    const count = countOf(options)
    const folder = await makeFolder(resolve(String(options.folder)))
    try {
      await withSample(folder, (sample) => measure(sample, count))
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
}

async function makeFolder(parent: string): Promise<string> {
  try {
    return await mkdtemp(join(parent, 'longshore-bench-'))
  } catch (error) {
    throw new UserError(
      `nothing can be written to ${parent} (${errorCode(error)}): name another with --folder`,
    )
  }
}

async function measure(sample: Sample, count: number): Promise<void> {
  const stored = await timed(() => storeSample(sample, count))
  const single_ms = await storeOneByOne(sample)
  tell('\n', rateLine('store', stored, stored.result, 'each durable before it is acknowledged'))
  tell(delayLine('store one', single_ms, 'from its arrival until it is durable'))
  for (const { what, query } of QUESTIONS) {
    tell(delayLine(what, await ask(sample, query), query))
  }
  for (const format of FORMATS) tell(await measureExport(sample, format, stored.result + SINGLE_EVENTS))
  tell('\n')
}

/** One after another, as by a client that waits for each answer. */
async function storeOneByOne({ config, services, project, end, signal }: Sample): Promise<number[]> {
  const parts = compose(services, config)
  const delays_ms: number[] = []
  for (const event of sampleEvents({ count: SINGLE_EVENTS, seed: 2, days: 1, end })) {
    assertGoingOn(signal)
    const { seconds } = await timed(() => parts.ingest.accept(project, [event], SAMPLE_EVENT_BYTES))
    delays_ms.push(seconds * 1000)
  }
  await closeParts(parts)
  return delays_ms
}

async function ask({ services, project, signal }: Sample, query: string): Promise<number[]> {
  const delays_ms: number[] = []
  while (delays_ms.length < TIMES_ASKED) {
    assertGoingOn(signal)
    const asked = await timed(() => runHogql(services, project, { kind: 'HogQLQuery', query }, 'query'))
    delays_ms.push(asked.seconds * 1000)
  }
  return delays_ms
}

async function measureExport(sample: Sample, format: Format, expected: number): Promise<string> {
  const exported = await timed(() => exportSample(sample, format.file_format, format))
  const { files, rows, bytes } = await verifySample(sample, exported.result)
  if (rows !== expected) throw new UserError(`the files hold ${rows} of ${expected} events`)
  const note = `${format.file_format} ${format.compression}, ${files} files, ${inDigits(Math.round(bytes / 1_000_000))} MB, read back and compared`
  return rateLine('export', exported, rows, note)
}

function delayLine(what: string, delays_ms: readonly number[], note: string): string {
  const sorted = delays_ms.toSorted((a, b) => a - b)
  const at = (share: number) => `${sorted[Math.floor(sorted.length * share)]!.toFixed(1).padStart(7)} ms`
  return `  ${what.padEnd(10)}  half within ${at(0.5)}, 99 of 100 within ${at(0.99)}  ${note}\n`
}

function tell(...lines: readonly string[]): void {
  process.stdout.write(lines.join(''))
}
