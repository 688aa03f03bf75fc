// The log as a file, to be sent to somebody who has no account here.
import { answer, api } from '../../api/client'
import { saveFile } from '../../ui/save-file'
import { pathOf, type ExportPath, type LogEntry } from '../queries'
import { nextPage, type LogPage } from './pages'

type Filter = { level?: LogEntry['level'][]; search?: string; after?: string; before?: string }

const PAGE = 1_000
/** A file that still opens in any editor; filters narrow it down. */
const MOST_LINES = 20_000

/** Tells how many lines it holds. */
export async function saveLog(path: ExportPath, filter: Filter, name: string): Promise<number> {
  const pages: { next: string | null; results: LogEntry[] }[] = []
  for (let place: LogPage | undefined = { offset: 0 }; place !== undefined && place.offset < MOST_LINES;) {
    pages.push(
      await answer(
        api.GET('/api/projects/{project_id}/batch_exports/{batch_export_id}/logs/', {
          params: { path: pathOf(path), query: { ...filter, ...place, limit: PAGE } },
        }),
      ),
    )
    place = nextPage(pages, filter.before)
  }
  const lines = pages.flatMap(({ results }) => results)
  saveFile(`${name}.log`, 'text/plain', lines.map(textOf).join(''))
  return lines.length
}

const textOf = ({ timestamp, level, run_id, message }: LogEntry) =>
  `${timestamp} ${level} ${run_id ?? '-'} ${message}\n`
