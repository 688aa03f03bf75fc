// What all destinations for files share: names, the order in which files become visible, and the manifest. S3,
// AzureBlob and File each bring a place to put them.
import type { Encoding, OutputFile } from '../formats/encoding.ts'
import type { FileOutput } from './config-fields.ts'
import {
  Refused,
  type DeliveredFile,
  type Delivery,
  type DeliveryContext,
  type NamedRun,
} from './destination.ts'
import { fileName, manifestName, renderName } from './prefix.ts'

export type FilePlace = {
  /** Brings a file there without making it visible. The one on this machine's disk is not needed afterwards. */
  stage(name: string, file: OutputFile): Promise<StagedFile>
  /** The same with something small, which is JSON. */
  stageText(name: string, content: string): Promise<StagedFile>
  /** One that is not there is gone already. */
  remove(name: string): Promise<void>
  close(): void
}

export type StagedFile = {
  /** May be repeated, also when the answer to the first time was lost. */
  publish(): Promise<void>
  /** Does nothing to a file that was published. */
  drop(): Promise<void>
}

const MEGABYTE = 1024 * 1024

type FileConfig = FileOutput & { prefix: string }

type FileDelivery = Pick<DeliveryContext, 'run' | 'signal' | 'left_files'> & { config: FileConfig }

export function fileEncoding(config: FileOutput): Encoding {
  const { file_format, csv_header, compression, compression_level, max_file_size_mb } = config
  return {
    format: file_format,
    has_header: file_format === 'CSV' && csv_header,
    compression,
    compression_level,
    max_bytes: max_file_size_mb === null ? null : max_file_size_mb * MEGABYTE,
    max_rows: null,
  }
}

export function deliverFiles(place: FilePlace, { config, run, signal, left_files }: FileDelivery): Delivery {
  const encoding = fileEncoding(config)
  const name = renderName(config.prefix, run)
  const files: DeliveredFile[] = []
  const staged: StagedFile[] = []
  // A run without rows leaves nothing, also no list of nothing: it may be there to remove what was left before it.
  const manifests = () => (files.length === 0 ? [] : manifestsOf(name, encoding))
  const names = () => [...files.map((file) => file.name), ...manifests()]
  return {
    names,
    async write(file) {
      const { index, rows, bytes, sha256 } = file
      const key = fileName(name, index, encoding)
      staged.push(await place.stage(key, file))
      files.push({ name: key, rows, bytes, sha256 })
    },
    async finish(confirm) {
      // From the first file on all of them become visible, also for a run that is cancelled meanwhile: half of it
      // would be taken for the whole.
      signal.throwIfAborted()
      for (const each of manifests()) staged.push(await place.stageText(each, manifestText(files)))
      for (const file of staged) await file.publish()
      const kept = new Set(names())
      const left = left_files.filter((file) => !kept.has(file))
      if (left.length > 0) for (const file of await confirm(left)) await place.remove(file)
      place.close()
      return { rows: totalOf(files, 'rows'), files }
    },
    async abort() {
      await Promise.allSettled(staged.map((file) => file.drop()))
      place.close()
    },
  }
}

/** What a run with rows writes whatever their number. */
export function fileNames(config: FileConfig, run: NamedRun): string[] {
  const encoding = fileEncoding(config)
  const name = renderName(config.prefix, run)
  return [fileName(name, 0, encoding), ...manifestsOf(name, encoding)]
}

function manifestsOf(name: string, { max_bytes }: Encoding): string[] {
  return max_bytes === null ? [] : [manifestName(name)]
}

/** For `catch`. The place has just taken files, so it is the removal alone that it refuses; `right` is what that needs. */
export function explainRemoval(name: string, right: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof Refused)) throw error
    throw new Refused(
      `The file ${name} of an earlier run over these rows could not be removed. Allow ${right}, or remove the file yourself, then retry the run.`,
      { cause: error },
    )
  }
}

/** A function of the files alone: a repeated run writes the same bytes. PostHog's has `files` only. */
export function manifestText(files: readonly DeliveredFile[]): string {
  const content = {
    files: files.map(({ name }) => name),
    rows: totalOf(files, 'rows'),
    bytes: totalOf(files, 'bytes'),
    contents: files,
  }
  return `${JSON.stringify(content, null, 2)}\n`
}

function totalOf(files: readonly DeliveredFile[], figure: 'rows' | 'bytes'): number {
  return files.reduce((total, file) => total + file[figure], 0)
}
