// A list of the API in each of its states: loading, failed, empty, some, many.
import type { ReactNode } from 'react'
import type { Pages } from '../api/pages'
import { DataTable, type TableProps } from './DataTable'
import { countText } from './format'
import { Failed, Loading } from './States'

type Props<Row extends { id: string | number }> = Omit<TableProps<Row>, 'rows' | 'onEnd' | 'foot'> & {
  pages: Pages<Row>
  /** What could not be shown: "The members could not be shown." */
  failure: string
  empty: ReactNode
}

export function PagedTable<Row extends { id: string | number }>({
  pages,
  failure,
  empty,
  ...table
}: Props<Row>) {
  const { rows, count, error } = pages
  const failed = error !== null && <Failed error={error} what={failure} onRetry={pages.retry} />
  if (rows === undefined) return failed || <Loading />
  if (rows.length === 0) return empty
  // What is there stays while it cannot be asked for anew.
  const foot =
    failed || (rows.length < count ? `${countText(rows.length)} of ${countText(count)}` : undefined)
  return <DataTable {...table} rows={rows} onEnd={pages.more} foot={foot} />
}
