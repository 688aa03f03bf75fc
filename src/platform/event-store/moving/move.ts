// Carries everything of one store over to another that was empty. The same call goes on where one was cut short: what the
// target holds tells how far it got. The source is only read.
import { BLOCK, COPY_KINDS, type BlockDigest, type Digest, type MovedRow } from './columns.ts'
import type { MoveSide, ReadSide } from './side.ts'

/** A project that is the same on both sides. `first` and `last` are positions of events, 0 when there are none. */
export type MovedProject = {
  project_id: number
  events: number
  first: number
  last: number
  persons: number
}

export type MoveProgress = {
  /** Between 0 and 1, over the positions of all projects. */
  share: number
  /** Carried over by this call. */
  events: number
}

export type Move = {
  source: ReadSide
  target: MoveSide
  signal: AbortSignal
  onProgress(so_far: MoveProgress): void
}

/** Both sides do not hold the same. */
export class MoveDifference extends Error {}

/** A batch is in memory a few times over; ClickHouse makes a part of each. */
const BATCH_ROWS = 50_000
const BATCH_BYTES = 16 * 1024 * 1024

/** Throws MoveDifference when something did not arrive as it was, or the signal's reason. */
export async function moveEvents(move: Move): Promise<MovedProject[]> {
  const { source, target, signal } = move
  const state = await source.state()
  const projects = await source.projects()
  const last = new Map<number, number>()
  for (const id of projects) last.set(id, (await source.project(id)).last_position)
  const progress = progressOf(last, move)
  for (const id of projects) {
    await target.prepare(id)
    await moveProject(move, id, (position, events) => progress(id, position, events))
    await moveCopies(move, id, state.copies_position)
    await target.finishProject(id, await source.project(id))
  }
  await target.finish(state)
  const moved: MovedProject[] = []
  const differences: string[] = []
  for (const id of projects) {
    signal.throwIfAborted()
    const { differing, ...project } = await compare(move, id)
    differences.push(...differing)
    moved.push(project)
  }
  if (differences.length > 0) throw new MoveDifference(differences.join('\n'))
  return moved
}

function progressOf(last: ReadonlyMap<number, number>, { onProgress }: Move) {
  const total = sum(last.values())
  const reached = new Map<number, number>()
  let events = 0
  return (project_id: number, position: number, added: number) => {
    reached.set(project_id, position)
    events += added
    onProgress({ share: total === 0 ? 1 : sum(reached.values()) / total, events })
  }
}

async function moveProject(
  { source, target, signal }: Move,
  project_id: number,
  onMoved: (position: number, events: number) => void,
): Promise<void> {
  let after = await target.lastMoved(project_id)
  onMoved(after, 0)
  for await (const batch of batches(source.events(project_id, after), monthOf)) {
    signal.throwIfAborted()
    for (const [seq] of batch) {
      if (Number(seq) <= after) throw new Error(`position ${String(seq)} came after position ${after}`)
      after = Number(seq)
    }
    await target.addEvents(project_id, batch)
    onMoved(after, batch.length)
  }
}

/** Those that are the same already stay; others are moved all over again, as they may have changed since. */
async function moveCopies(
  { source, target, signal }: Move,
  project_id: number,
  change: bigint,
): Promise<void> {
  if (await hasSameCopies(source, target, project_id)) return
  await target.removeCopies(project_id)
  for (const kind of COPY_KINDS) {
    for await (const batch of batches(source.copies(project_id, kind), () => '')) {
      signal.throwIfAborted()
      await target.addCopies(project_id, kind, batch, change)
    }
  }
}

async function hasSameCopies(source: ReadSide, target: ReadSide, project_id: number): Promise<boolean> {
  for (const kind of COPY_KINDS) {
    const here = await source.digestCopies(project_id, kind)
    if (!isSame(here, await target.digestCopies(project_id, kind))) return false
  }
  return true
}

/** Rows one after another, as many as a batch may have, and only such as belong together. */
async function* batches(
  pages: AsyncIterable<readonly MovedRow[]>,
  groupOf: (row: MovedRow) => string,
): AsyncIterable<MovedRow[]> {
  let batch: MovedRow[] = []
  let bytes = 0
  let group = ''
  for await (const page of pages) {
    for (const row of page) {
      const of_row = groupOf(row)
      if (batch.length > 0 && (batch.length >= BATCH_ROWS || bytes >= BATCH_BYTES || of_row !== group)) {
        yield batch
        batch = []
        bytes = 0
      }
      group = of_row
      batch.push(row)
      bytes += bytesOf(row)
    }
  }
  if (batch.length > 0) yield batch
}

/** The month in which an event arrived: ClickHouse then has a batch in one part, whole or not at all. */
function monthOf([, inserted_at]: MovedRow): string {
  return new Date(Number((inserted_at as bigint) / 1000n)).toISOString().slice(0, 7)
}

function bytesOf(row: MovedRow): number {
  return row.reduce<number>((total, value) => total + (typeof value === 'string' ? value.length : 8), 0)
}

async function compare(
  { source, target }: Move,
  project_id: number,
): Promise<MovedProject & { differing: string[] }> {
  const blocks = await source.digestEvents(project_id)
  const differing = differingBlocks(project_id, blocks, await target.digestEvents(project_id))
  let persons = 0
  for (const kind of COPY_KINDS) {
    const [here, there] = [
      await source.digestCopies(project_id, kind),
      await target.digestCopies(project_id, kind),
    ]
    if (kind === 'persons') persons = here.rows
    if (!isSame(here, there)) differing.push(`project ${project_id}: ${kind} ${told(here, there)}`)
  }
  const [one, other] = [await source.project(project_id), await target.project(project_id)]
  if (one.last_position !== other.last_position || JSON.stringify(one.holes) !== JSON.stringify(other.holes))
    differing.push(`project ${project_id}: the positions that have no event are not the same`)
  return {
    project_id,
    events: sum(blocks.map(({ rows }) => rows)),
    first: blocks[0]?.first ?? 0,
    last: blocks.at(-1)?.last ?? 0,
    persons,
    differing,
  }
}

function differingBlocks(
  project_id: number,
  source: readonly BlockDigest[],
  target: readonly BlockDigest[],
): string[] {
  const there = new Map(target.map((digest) => [digest.block, digest]))
  const here = new Map(source.map((digest) => [digest.block, digest]))
  const none = { rows: 0, sum: '0' }
  const all = [...new Set([...here.keys(), ...there.keys()])].sort((a, b) => a - b)
  return all.flatMap((block) => {
    const [one, other] = [here.get(block) ?? none, there.get(block) ?? none]
    if (isSame(one, other)) return []
    const positions = `positions ${block * BLOCK + 1} to ${(block + 1) * BLOCK}`
    return [`project ${project_id}: events at ${positions} ${told(one, other)}`]
  })
}

function isSame(one: Digest, other: Digest): boolean {
  return one.rows === other.rows && one.sum === other.sum
}

function told(here: Digest, there: Digest): string {
  return here.rows === there.rows
    ? `are not the same, though there are as many (${here.rows})`
    : `are ${there.rows} instead of ${here.rows}`
}

function sum(numbers: Iterable<number>): number {
  let total = 0
  for (const number of numbers) total += number
  return total
}
