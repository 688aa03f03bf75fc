// `meta`, the last argument of every call.
import { GuestBuffer } from './buffer.ts'
import { guestConsole } from './console.ts'
import { guestFetch } from './fetch.ts'
import { fromBase64 } from './bytes.ts'
import { HISTORICAL_EXPORT } from '../sandbox.ts'
import type { Found } from './exports.ts'
import { ask, request } from './host.ts'
import { cache, cursor, storage } from './stores.ts'

export type Settings = {
  config: Record<string, unknown>
  attachments: Record<string, { content_type: string; file_name: string; size: number }>
}

export function makeMeta({ config, attachments }: Settings, found: Found): object {
  return {
    config,
    attachments: readAttachments(attachments),
    cache,
    storage,
    global: {},
    jobs: makeJobs([...Object.keys(found.jobs), ...(found.methods.exportEvents ? [HISTORICAL_EXPORT] : [])]),
    metrics: makeMetrics(found.metrics),
    geoip: { locate: async (address: unknown) => ask('locate', String(address)) },
    utils: { cursor },
    logger: guestConsole,
    fetch: guestFetch,
  }
}

/** Their contents are fetched when they are looked at: together they may be larger than an app's memory. */
function readAttachments(attachments: Settings['attachments']): object {
  const read: Record<string, object> = {}
  for (const key of Object.keys(attachments)) {
    const { content_type, file_name, size } = attachments[key]!
    let contents: GuestBuffer | undefined
    read[key] = {
      content_type,
      file_name,
      get contents() {
        contents ??= readContents(key, size)
        return contents
      },
    }
  }
  return read
}

/** Piece by piece: as base64 the whole would not fit beside its bytes. */
function readContents(key: string, size: number): GuestBuffer {
  const contents = new GuestBuffer(size)
  for (let at = 0; at < size;) {
    const piece = fromBase64(ask('attachment', key, at) as string)
    contents.set(piece, at)
    at += piece.length
  }
  return contents
}

const SECOND = 1000
const DAY = 86_400 * SECOND
const UNITS: Record<string, number> = {
  millisecond: 1,
  second: SECOND,
  minute: 60 * SECOND,
  hour: 3600 * SECOND,
  day: DAY,
  week: 7 * DAY,
  month: 30 * DAY,
  quarter: 91 * DAY,
  year: 365 * DAY,
}

function makeJobs(names: string[]): object {
  const jobs: Record<string, unknown> = Object.create(null)
  for (const name of names) {
    jobs[name] = (payload?: unknown) => {
      const runAt = async (time: number) => {
        await request('job', name, time, JSON.stringify(payload ?? null))
      }
      return {
        runNow: () => runAt(Date.now()),
        runIn: (count: number, unit: string) => runAt(Date.now() + Number(count) * unitMs(unit)),
        runAt: (date: Date | string) => runAt(new Date(date).getTime()),
      }
    }
  }
  return jobs
}

function unitMs(unit: string): number {
  const milliseconds = UNITS[String(unit).replace(/s$/, '')]
  if (milliseconds === undefined) throw new Error(`the unit ${unit} is not known: milliseconds to years are`)
  return milliseconds
}

function makeMetrics(declared: Found['metrics']): object {
  const metrics: Record<string, object> = Object.create(null)
  for (const [name, kind] of Object.entries(declared)) {
    const method = kind === 'sum' ? 'increment' : kind
    metrics[name] = { [method]: (value: unknown = 1) => void ask('metric', name, Number(value)) }
  }
  return metrics
}
