import { DataTable, type Column } from '../../ui/DataTable'
import { Status } from '../../ui/Status'
import { Count } from '../../ui/Values'
import type { IntervalAccount } from '../queries'
import { IntervalText } from '../runs/IntervalText'
import { runState } from '../states'
import { balanceOf } from './balance'
import { kindOf } from './lines'

type Props = {
  accounts: readonly IntervalAccount[]
  openRun: string | undefined
  onOpen: (run: string) => void
}

/** The same account for each interval, in numbers. */
export function IntervalTable({ accounts, openRun, onOpen }: Props) {
  return (
    <DataTable
      label="Account of each interval"
      columns={accounts.some(({ backfilled }) => (backfilled ?? 0) > 0) ? WITH_BACKFILLS : COLUMNS}
      rows={accounts}
      rowKey={({ run }) => run}
      openKey={openRun}
      openLabel={(row) => `${runState(row.status).text} interval until ${row.data_interval_end}`}
      onOpen={({ run }) => onOpen(run)}
      isCompact
    />
  )
}

const COLUMNS: readonly Column<IntervalAccount>[] = [
  {
    key: 'interval',
    title: 'Interval',
    width: 'minmax(156px, 1.6fr)',
    cell: (row) => <IntervalText {...row} />,
  },
  {
    key: 'state',
    title: 'State',
    width: 'minmax(100px, 1fr)',
    cell: (row) => <Status kind={kindOf(row)}>{stateText(row)}</Status>,
  },
  {
    key: 'received',
    title: 'Received',
    width: '90px',
    align: 'end',
    isExtra: true,
    cell: (row) => <Count value={row.received} />,
  },
  {
    key: 'exported',
    title: 'Exported',
    width: '90px',
    align: 'end',
    isExtra: true,
    cell: (row) => <Count value={row.exported} />,
  },
  {
    key: 'filtered',
    title: 'Filtered',
    width: '90px',
    align: 'end',
    isExtra: true,
    cell: (row) => <Count value={row.filtered_out} />,
  },
  {
    key: 'skipped',
    title: 'Skipped',
    width: '90px',
    align: 'end',
    isExtra: true,
    cell: (row) => <Count value={row.skipped} />,
  },
  {
    key: 'pending',
    title: 'Pending',
    width: '90px',
    align: 'end',
    isExtra: true,
    cell: (row) => <Count value={row.pending} />,
  },
  {
    key: 'files',
    title: 'Files',
    width: '70px',
    align: 'end',
    isExtra: true,
    cell: ({ files }) => <Count value={files?.length ?? null} />,
  },
]

/** Rows that are in files of backfills: without them what an interval exported is more than its own run delivered. */
const BY_BACKFILLS: Column<IntervalAccount> = {
  key: 'backfilled',
  title: (
    <span title="Part of what is exported, delivered by backfills before the interval's own run">
      By backfills
    </span>
  ),
  width: '104px',
  align: 'end',
  isExtra: true,
  cell: (row) => <Count value={row.backfilled} />,
}
const WITH_BACKFILLS = COLUMNS.flatMap((column) =>
  column.key === 'exported' ? [column, BY_BACKFILLS] : [column],
)

function stateText(row: IntervalAccount): string {
  if (balanceOf(row)?.addsUp === false) return 'Does not add up'
  return kindOf(row) === 'skipped' ? 'Incomplete' : runState(row.status).text
}
