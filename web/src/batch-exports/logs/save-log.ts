// The log as a file, to be sent to somebody who has no account here.
import { answer, api } from '../../api/client'
import { saveFile } from '../../ui/save-file'
import { pathOf, type ExportPath, type LogEntry } from '../queries'

type Filter = { level?: LogEntry['level'][]; search?: string; after: string }

const PAGE = 1_000
/** A file that still opens in any editor; filters narrow it down. */
const MOST_LINES = 20_000

/** Tells how many lines it holds. */
export async function saveLog(path: ExportPath, filter: Filter, name: string): Promise<number> {
  const lines: LogEntry[] = []
  for (let isMore = true; isMore && lines.length < MOST_LINES;) {
    const page = await answer(
      api.GET('/api/projects/{project_id}/batch_exports/{batch_export_id}/logs/', {
        params: { path: pathOf(path), query: { ...filter, limit: PAGE, offset: lines.length } },
      }),
    )
    lines.push(...page.results)
    isMore = page.next !== null && page.results.length > 0
  }
  saveFile(`${name}.log`, 'text/plain', lines.map(textOf).join(''))
  return lines.length
}

const textOf = ({ timestamp, level, run_id, message }: LogEntry) =>
  `${timestamp} ${level} ${run_id ?? '-'} ${message}\n`
