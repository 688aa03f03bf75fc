// A folder on this machine, below the configured root: needs no account anywhere.
import { z } from 'zod'
import type { DestinationKind } from '../destination.ts'
import { FILE_CONDITIONS, fileOutputFault, eventFilter, fileOutput } from '../config-fields.ts'
import { OWN_FOLDER, PREFIX, prefixFault } from '../prefix.ts'

/** In a folder `a//b` and `a/b` are one name: a file must have one only, or it is taken for two. */
function folded(prefix: string): string {
  return prefix.replaceAll(/\/{2,}/g, '/').replace(/^\//, '')
}

const Config = z.strictObject({
  prefix: z.string().trim().max(1024).overwrite(folded).default(OWN_FOLDER).meta(PREFIX),
  ...fileOutput,
  ...eventFilter,
})
export type FileConfig = z.output<typeof Config>

export const fileKind: DestinationKind<FileConfig> = {
  type: 'File',
  name: 'Folder',
  category: 'files',
  description: 'Files in a folder of the machine that this server runs on.',
  config: Config,
  example: { prefix: '{export_id}/', file_format: 'Parquet', compression: 'zstd' },
  secrets: [],
  aims: [],
  models: ['events', 'persons', 'sessions'],
  columns: 'files',
  takes_custom_columns: true,
  conditions: FILE_CONDITIONS,
  faults(config) {
    const prefix = prefixFault(config.prefix)
    if (prefix !== null) return { field: 'prefix', message: prefix }
    return fileOutputFault(config)
  },
  hosts: () => [],
  place: (_config, project_id) => `file:${project_id}`,
  target: ({ prefix }) => `file:${prefix}`,
  load: async () => (await import('./file.ts')).file,
}
