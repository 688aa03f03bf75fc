// One file into a sink: rows are read, made into events and handed over in batches.
import { readCsv } from './csv.ts'
import { ImportProgress, type ImportProgressOptions, type ImportCounts } from './import-progress.ts'
import { Batch, Deliveries } from './deliveries.ts'
import { unpackedBytes, type InputFile } from './input-file.ts'
import { readJsonLines } from './json-lines.ts'
import { openParquet } from './parquet.ts'
import type { Row, Source } from './rows.ts'
import type { Sink } from './sink.ts'

export type ImportOptions = ImportProgressOptions & { file: InputFile; sink: Sink; signal: AbortSignal }

/** The file itself is at fault: what came before was taken. */
class UnreadableFile extends Error {}

/** Goes on behind the rows that are done. Ends early, without being done, when it is asked to stop. */
export async function importFile(options: ImportOptions): Promise<ImportCounts & { is_done: boolean }> {
  const { file, sink, signal } = options
  const kept = await ImportProgress.open(options)
  const source = await openSource(file)
  const deliveries = new Deliveries(sink, (delivered) => kept.enter(delivered, source.share()))
  const place = { identity: file.identity, started_at: kept.progress.started_at }
  let batch = new Batch(place, sink.batch)
  try {
    for await (const rows of rowsBehind(file.path, source, kept.progress.rows)) {
      for (const row of rows) {
        batch.add(row)
        if (!batch.isFull()) continue
        await deliveries.hand(batch)
        batch = new Batch(place, sink.batch)
      }
      if (signal.aborted) break
    }
    await deliveries.hand(batch)
    await deliveries.finish()
  } catch (error) {
    if (error instanceof UnreadableFile) {
      await deliveries.hand(batch)
      await deliveries.finish()
    }
    throw error
  } finally {
    await deliveries.settle()
  }
  if (!signal.aborted) await kept.close()
  return { ...kept.counts, is_done: !signal.aborted }
}

async function openSource(file: InputFile): Promise<Source> {
  if (file.format === 'Parquet') return openParquet(file.path)
  const read = { bytes: 0 }
  const chunks = unpackedBytes(file, read)
  return {
    rows: file.format === 'CSV' ? readCsv(chunks) : readJsonLines(chunks),
    share: () => (file.bytes === 0 ? 1 : read.bytes / file.bytes),
  }
}

async function* rowsBehind(path: string, source: Source, count: number): AsyncGenerator<readonly Row[]> {
  let left = count
  try {
    for await (const rows of source.rows) {
      yield left === 0 ? rows : rows.slice(left)
      left -= Math.min(left, rows.length)
    }
  } catch (error) {
    throw new UnreadableFile(`${path} cannot be read to its end: ${(error as Error).message}`, {
      cause: error,
    })
  }
}
