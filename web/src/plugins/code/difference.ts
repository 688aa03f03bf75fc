// An event before and after, as lines of JSON that stayed, came or went.

export type Line = { mark: ' ' | '+' | '-'; text: string }
/** So many lines that stayed are left out. */
export type Gap = { left: number }

type Json = Record<string, unknown>

/** What the server adds to an event that lacks it, and no app has done. */
const MADE_UP = [
  'uuid',
  'distinct_id',
  'team_id',
  'ip',
  'site_url',
  'now',
  'timestamp',
  'event',
  'properties',
]
const CONTEXT = 2

export function differenceOf(before: Json, after: Json): Line[] {
  const known = Object.fromEntries(
    Object.entries(after).filter(
      ([key]) => !MADE_UP.includes(key) || Object.hasOwn(before, key) || isFilled(key, after[key]),
    ),
  )
  if (isSameTime(before.timestamp, known.timestamp)) known.timestamp = before.timestamp
  return lines('', before, known, 0, '')
}

/** The server may write it otherwise: `Z` for `+00:00`. */
const isSameTime = (before: unknown, after: unknown) =>
  typeof before === 'string' && typeof after === 'string' && Date.parse(before) === Date.parse(after)

/** Properties that were not there at all count once there is something in them. */
const isFilled = (key: string, value: unknown) =>
  key === 'properties' && isObject(value) && Object.keys(value).length > 0

/** Long stretches without a change are folded. */
export function folded(all: readonly Line[]): (Line | Gap)[] {
  const isNear = all.map((_, index) =>
    all.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(({ mark }) => mark !== ' '),
  )
  const result: (Line | Gap)[] = []
  all.forEach((line, index) => {
    const last = result.at(-1)
    if (isNear[index]) result.push(line)
    else if (last && 'left' in last) last.left += 1
    else result.push({ left: 1 })
  })
  return result
}

export const hasChanges = (all: readonly Line[]): boolean => all.some(({ mark }) => mark !== ' ')

function lines(name: string, before: unknown, after: unknown, depth: number, tail: string): Line[] {
  if (isObject(before) && isObject(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    if (keys.length === 0) return printed(' ', name, {}, depth, tail)
    return [
      { mark: ' ', text: `${indent(depth)}${name}{` },
      ...keys.flatMap((key, index) =>
        member(key, before, after, depth + 1, index < keys.length - 1 ? ',' : ''),
      ),
      { mark: ' ', text: `${indent(depth)}}${tail}` },
    ]
  }
  if (JSON.stringify(before) === JSON.stringify(after)) return printed(' ', name, after, depth, tail)
  return [...printed('-', name, before, depth, tail), ...printed('+', name, after, depth, tail)]
}

function member(key: string, before: Json, after: Json, depth: number, tail: string): Line[] {
  const name = `${JSON.stringify(key)}: `
  if (!Object.hasOwn(after, key)) return printed('-', name, before[key], depth, tail)
  if (!Object.hasOwn(before, key)) return printed('+', name, after[key], depth, tail)
  return lines(name, before[key], after[key], depth, tail)
}

function printed(mark: Line['mark'], name: string, value: unknown, depth: number, tail: string): Line[] {
  const text = JSON.stringify(value, null, 2) ?? 'undefined'
  const all = text.split('\n').map((line, index) => `${indent(depth)}${index === 0 ? name : ''}${line}`)
  return all.map((line, index) => ({ mark, text: index === all.length - 1 ? `${line}${tail}` : line }))
}

const indent = (depth: number) => '  '.repeat(depth)

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
