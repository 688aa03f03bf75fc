// The destinations of the simulation, behind the contract of the real ones: files with the real names and manifest, a
// table with stage and ledger, and the real HTTP destination with an endpoint in memory.
import { readFileSync } from 'node:fs'
import {
  Passing,
  type Delivery,
  type DeliveryContext,
  type Destination,
} from '../../src/features/batch-exports/destinations/destination.ts'
import {
  deliverFiles,
  fileEncoding,
  type FilePlace,
} from '../../src/features/batch-exports/destinations/file-delivery.ts'
import { fileKind, type FileConfig } from '../../src/features/batch-exports/destinations/file/kind.ts'
import { http } from '../../src/features/batch-exports/destinations/http/http.ts'
import { httpKind, type HttpConfig } from '../../src/features/batch-exports/destinations/http/kind.ts'
import {
  postgresKind,
  type PostgresConfig,
} from '../../src/features/batch-exports/destinations/postgres/kind.ts'
import { Reach } from './reach.ts'

/** Few, so that small runs have several files and batches. */
export const ROWS_OF_A_FILE = 3

const file: Destination<FileConfig> = {
  encoding(config) {
    const encoding = fileEncoding(config)
    // Files without a limit have no numbers: there is one.
    return { ...encoding, max_rows: encoding.max_bytes === null ? null : ROWS_OF_A_FILE }
  },
  steps: [],
  async open(context) {
    const { outbound, signal, left_uploads } = context
    const reach = Reach.of(outbound)
    for (const { name, id } of left_uploads)
      await reach.call(`end the upload of ${name}`, () => reach.places.endUpload(id), signal)
    return deliverFiles(filePlace(reach, context), context)
  },
  inspect: null,
}

function filePlace(reach: Reach, { config, run, signal, progress }: DeliveryContext<FileConfig>): FilePlace {
  const { places } = reach
  const is_folder = config.prefix.startsWith('folder')
  const stage = async (name: string, content: string) => {
    const made = { name, content, run_id: run.id, attempt: run.attempt }
    const part = await reach.call(`stage ${name} ${run.id}`, () => places.stage(made, is_folder), signal)
    if (!is_folder) await progress.began({ name, id: part.id })
    return {
      publish: () =>
        reach.show(`publish ${name}`, run, () => {
          if (!places.publish(part)) throw new Passing('The file has gone.')
        }),
      drop: () => reach.call(`drop ${name} ${run.id}`, () => void places.staged.delete(part)),
    }
  }
  return {
    stage: (name, { path }) => stage(places.nameOf(name), readFileSync(path, 'utf8')),
    stageText: stage,
    remove: (name) => reach.show(`remove ${name}`, run, () => places.remove(name)),
    close() {},
  }
}

const table: Destination<PostgresConfig> = {
  encoding: () => ({ format: 'JSONLines', compression: null, max_bytes: null, max_rows: ROWS_OF_A_FILE }),
  steps: [],
  async open(context) {
    const reach = Reach.of(context.outbound)
    await reach.call(`connect ${context.run.id}`, () => {}, context.signal)
    return tableDelivery(reach, context)
  },
  inspect: null,
}

function tableDelivery(reach: Reach, { run, config, signal }: DeliveryContext<PostgresConfig>): Delivery {
  const stage: string[] = []
  return {
    async write({ path, index }) {
      const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
      const uuids = lines.map((line) => (JSON.parse(line) as { uuid: string }).uuid)
      await reach.call(`copy ${index} ${run.id}`, () => void stage.push(...uuids), signal)
    },
    async finish() {
      signal.throwIfAborted()
      const has_key = config.table_name === 'keyed'
      const commit = () => reach.places.commit(run, stage, has_key)
      return { rows: await reach.show(`commit ${run.id}`, run, commit), files: [] }
    },
    abort: () => reach.call(`roll back ${run.id}`, () => {}).catch(() => undefined),
  }
}

const endpoint: Destination<HttpConfig> = {
  ...http,
  encoding: (config, run) => ({ ...http.encoding(config, run), max_rows: ROWS_OF_A_FILE }),
}

/** In place of the real ones, until the function it gives is called. */
export function replaceDestinations(): () => void {
  const real = [fileKind.load, postgresKind.load, httpKind.load] as const
  fileKind.load = async () => file
  postgresKind.load = async () => table
  httpKind.load = async () => endpoint
  return () => {
    ;[fileKind.load, postgresKind.load, httpKind.load] = real
  }
}
