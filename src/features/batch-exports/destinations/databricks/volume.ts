// Files of a run on their way into Databricks: a folder of a volume beside the table.
import { readFile } from 'node:fs/promises'
import { isObject } from '../../../../lib/json-object.ts'
import type { OutputFile } from '../../formats/encoding.ts'
import type { Removed, SweptRun } from '../destination.ts'
import type { DatabricksApi } from './api.ts'
import type { DatabricksConfig } from './kind.ts'
import { listIn, textIn } from '../warehouse/call.ts'

export const VOLUME = 'longshore_stage'

export function runFolder(config: DatabricksConfig, run_id: string): string {
  return `${volumeFolder(config)}/${run_id}`
}

function volumeFolder({ catalog, schema }: DatabricksConfig): string {
  return `/Volumes/${catalog}/${schema}/${VOLUME}`
}

/** Folders are called after their runs. */
export async function* dropRunFolders(
  api: DatabricksApi,
  runs: readonly SweptRun[],
): AsyncGenerator<Removed> {
  const { config } = api.context
  const entries = await listFolder(api, volumeFolder(config))
  const there = new Set(entries.map(({ path }) => path.split('/').at(-1)!))
  for (const { id } of runs.filter((run) => there.has(run.id))) {
    await dropFolder(api, runFolder(config, id))
    yield { kind: 'staging folder', name: runFolder(config, id) }
  }
}

export async function makeFolder(api: DatabricksApi, folder: string): Promise<void> {
  await api.call(`/api/2.0/fs/directories${asPath(folder)}`, { method: 'PUT' })
}

/** The ending tells Databricks how to unpack it. */
export async function uploadFile(api: DatabricksApi, folder: string, file: OutputFile): Promise<string> {
  const name = `part-${file.index}.jsonl.gz`
  await api.call(`/api/2.0/fs/files${asPath(`${folder}/${name}`)}?overwrite=true`, {
    method: 'PUT',
    body: await readFile(file.path),
  })
  return name
}

/** With all that is in it; a folder that is not there is as good as dropped. */
export async function dropFolder(api: DatabricksApi, folder: string): Promise<void> {
  for (const entry of await listFolder(api, folder)) {
    if (entry.is_directory) await dropFolder(api, entry.path)
    else await api.call(`/api/2.0/fs/files${asPath(entry.path)}`, { method: 'DELETE', expect: [404] })
  }
  await api.call(`/api/2.0/fs/directories${asPath(folder)}`, { method: 'DELETE', expect: [404] })
}

/** Another attempt may have files in it. */
export async function dropIfEmpty(api: DatabricksApi, folder: string): Promise<void> {
  await api.call(`/api/2.0/fs/directories${asPath(folder)}`, { method: 'DELETE', expect: [400, 404, 409] })
}

async function listFolder(
  api: DatabricksApi,
  folder: string,
): Promise<{ path: string; is_directory: boolean }[]> {
  const entries: { path: string; is_directory: boolean }[] = []
  let page = ''
  do {
    const answer = await api.call(`/api/2.0/fs/directories${asPath(folder)}${page}`, {
      method: 'GET',
      expect: [404],
    })
    for (const entry of listIn(answer, 'contents').filter(isObject)) {
      entries.push({ path: textIn(entry, 'path'), is_directory: entry.is_directory === true })
    }
    const next = textIn(answer, 'next_page_token')
    page = next === '' ? '' : `?page_token=${encodeURIComponent(next)}`
  } while (page !== '')
  return entries
}

function asPath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}
