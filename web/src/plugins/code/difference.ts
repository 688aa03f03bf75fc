// An event or a text before and after, as lines that stayed, came or went.

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

/** Beyond this many pairs of lines the stretch that differs is shown as replaced. */
const MOST_PAIRS = 4_000_000

export function differenceOfTexts(before: string, after: string): Line[] {
  const [old, now] = [before.split('\n'), after.split('\n')]
  const most = Math.min(old.length, now.length)
  let start = 0
  while (start < most && old[start] === now[start]) start++
  let end = 0
  while (end < most - start && old.at(-1 - end) === now.at(-1 - end)) end++
  const stayed = (lines: readonly string[]): Line[] => lines.map((text) => ({ mark: ' ', text }))
  return [
    ...stayed(now.slice(0, start)),
    ...replaced(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...stayed(now.slice(now.length - end)),
  ]
}

/** By the longest sequence of lines that both have. */
function replaced(old: readonly string[], now: readonly string[]): Line[] {
  const width = now.length + 1
  const isHuge = old.length * now.length > MOST_PAIRS
  // How many lines the rest of both have in common, from each pair of places on.
  const common = new Uint32Array(isHuge ? 0 : (old.length + 1) * width)
  if (!isHuge)
    for (let i = old.length - 1; i >= 0; i--)
      for (let j = now.length - 1; j >= 0; j--)
        common[i * width + j] =
          old[i] === now[j]
            ? common[(i + 1) * width + j + 1]! + 1
            : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!)
  const all: Line[] = []
  let [i, j] = [0, 0]
  while (i < old.length || j < now.length) {
    if (!isHuge && i < old.length && j < now.length && old[i] === now[j]) {
      all.push({ mark: ' ', text: now[j]! })
      i++
      j++
    } else if (
      i < old.length &&
      (isHuge || j === now.length || common[(i + 1) * width + j]! >= common[i * width + j + 1]!)
    )
      all.push({ mark: '-', text: old[i++]! })
    else all.push({ mark: '+', text: now[j++]! })
  }
  return all
}

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
