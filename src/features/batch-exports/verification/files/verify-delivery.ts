// The files of one delivery against what its run says of them, and against the events in the store.
import { createHash } from 'node:crypto'
import type { ExportRows } from '../../../../platform/event-store/export-rows.ts'
import type { DeliveredFile } from '../../destinations/destination.ts'
import { manifestText } from '../../destinations/file-delivery.ts'
import { planPieces } from '../../formats/plan.ts'
import { factsOf, selectionOf, type FrozenRun } from '../../runs/frozen.ts'
import { pickColumns } from '../../source/pick-columns.ts'
import { repairAdvice } from '../advice.ts'
import { hasMoved } from '../deliveries.ts'
import type { FileToRead } from '../reader/destination-reader.ts'
import type { FileContent } from '../reader/read-file.ts'
import { addSums, isSameSums, NO_SUMS, type Sums } from '../reader/uuid-sums.ts'
import type { Problem } from '../rows.ts'
import { forEachPiece, NARROW_ROWS, type Verifying } from '../verifying.ts'

type Fault = Pick<Problem, 'kind' | 'file' | 'message'>

export async function verifyDelivery(work: Verifying, run: FrozenRun): Promise<void> {
  const { services, row, findings } = work
  findings.read.runs++
  const faults = await findFaults(work, run)
  // A run that repeats this one is changing the files, and is verified when it has ended.
  if (faults.length > 0 && (await hasMoved(services.db, run))) return
  const what_to_do = repairAdvice(row, run)
  for (const fault of faults) {
    findings.add({ ...fault, run: run.id, uuid: null, position: null, what_to_do })
  }
}

/** Whose events are in the files is asked only when all of them are what the run wrote. */
async function findFaults(work: Verifying, run: FrozenRun): Promise<Fault[]> {
  const selection = run.definition.model === 'events' ? selectionOf(work.services.eventStore, run) : null
  const place = selection?.columns.findIndex(({ name }) => name === 'uuid') ?? -1
  const has_uuid = place !== -1
  const content = { config: run.definition.config, run: factsOf(run), uuid_at: has_uuid ? place : null }
  const faults: Fault[] = []
  let held = NO_SUMS
  for (const file of run.files ?? []) {
    const found = await readFile(work, { name: file.name, content })
    const fault = faultOf(file, found)
    if (fault) faults.push(fault)
    held = addSums(held, found?.uuids ?? NO_SUMS)
    work.findings.read.rows += found?.uuids?.rows ?? 0
  }
  for (const manifest of manifestsOf(run)) {
    const fault = faultOf(manifest, await readFile(work, { name: manifest.name, content: null }))
    if (fault) faults.push(fault)
  }
  if (faults.length > 0) return faults
  const fault = rowFault(run, held) ?? (selection && (await inputFault(work, selection.rows, held, has_uuid)))
  return fault ? [fault] : []
}

async function readFile(
  { reader, findings, giveWay }: Verifying,
  file: FileToRead,
): Promise<FileContent | null> {
  await giveWay()
  const found = await reader.readFile(file)
  if (found) {
    findings.read.files++
    findings.read.bytes += found.bytes
  }
  return found
}

/** `rows` is null for what has none. */
type ListedFile = Omit<DeliveredFile, 'rows'> & { rows: number | null }

function faultOf(file: ListedFile, found: FileContent | null): Fault | null {
  const fault = (kind: Fault['kind'], message: string) => ({ kind, file: file.name, message })
  if (!found) return fault('missing_file', 'The file is not there.')
  if (found.uuids === null) return fault('changed_file', 'The file is damaged: its rows cannot be read.')
  if (found.bytes !== file.bytes) {
    return fault('changed_file', `The file has ${found.bytes} bytes; ${file.bytes} were delivered.`)
  }
  if (found.sha256 !== file.sha256)
    return fault('changed_file', 'The file has another SHA-256 than was delivered.')
  if (file.rows === null || found.uuids.rows === file.rows) return null
  return fault('wrong_rows', `The file has ${found.uuids.rows} rows; its run says ${file.rows}.`)
}

/** What the run made visible beside its files of rows. */
function manifestsOf({ files, published }: FrozenRun): ListedFile[] {
  const rows = files ?? []
  const text = manifestText(rows)
  const sha256 = createHash('sha256').update(text).digest('hex')
  const others = (published ?? []).filter((name) => !rows.some((file) => file.name === name))
  return others.map((name) => ({ name, rows: null, bytes: Buffer.byteLength(text), sha256 }))
}

function rowFault({ files, records_completed }: FrozenRun, held: Sums): Fault | null {
  if (held.rows === records_completed) return null
  const message = `The ${files?.length ?? 0} files hold ${held.rows} rows; the run delivered ${records_completed}.`
  return { kind: 'wrong_rows', file: null, message }
}

/** Against the events that the run had to deliver, as the store has them. */
async function inputFault(
  work: Verifying,
  rows: ExportRows,
  held: Sums,
  has_uuid: boolean,
): Promise<Fault | null> {
  const input = has_uuid ? await sumInput(work, rows) : await countInput(work, rows)
  if (isSameSums(input, has_uuid ? held : { ...NO_SUMS, rows: held.rows })) return null
  const message = `The files hold ${held.rows} rows that are not the ${input.rows} events of the run.`
  return { kind: has_uuid ? 'wrong_uuids' : 'wrong_rows', file: null, message }
}

async function sumInput(work: Verifying, rows: ExportRows): Promise<Sums> {
  let sums = NO_SUMS
  const add = async (path: string) => void (sums = addSums(sums, await work.reader.sumUuids(path)))
  await forEachPiece(work, pickColumns(rows, ['uuid']), { kind: 'copy-text', max_rows: NARROW_ROWS }, add)
  return sums
}

async function countInput({ services, signal }: Verifying, rows: ExportRows): Promise<Sums> {
  return { ...NO_SUMS, rows: (await planPieces(services.eventStore, rows, signal)).rows }
}
