import { Title } from '@mantine/core'
import { DataTable, type Column } from '../../ui/DataTable'
import { Bytes, Copyable, CopyIcon, Count } from '../../ui/Values'
import type { Run } from '../queries'

type File = NonNullable<Run['files']>[number]
const MOST_IN_SIGHT = 6

/** What lies at the destination, with what each file can be checked by. */
export function RunFiles({ files }: { files: Run['files'] }) {
  if (files === null || files.length === 0) return null
  return (
    <section aria-label="Files of this run">
      <Title order={2} mb="sm">
        Files
      </Title>
      <DataTable
        label="Files"
        columns={COLUMNS}
        rows={files}
        rowKey={({ name }) => name}
        isCompact
        {...(files.length > MOST_IN_SIGHT ? { height: '240px' } : {})}
      />
    </section>
  )
}

const COLUMNS: readonly Column<File>[] = [
  {
    key: 'name',
    title: 'Name',
    width: 'minmax(140px, 1fr)',
    cell: ({ name }) => (
      <span title={name}>
        <CopyIcon value={name} label="Copy the whole name" />
        <span className="mono">{name.split('/').at(-1)}</span>
      </span>
    ),
  },
  { key: 'rows', title: 'Rows', width: '70px', align: 'end', cell: ({ rows }) => <Count value={rows} /> },
  { key: 'bytes', title: 'Size', width: '80px', align: 'end', cell: ({ bytes }) => <Bytes value={bytes} /> },
  {
    key: 'sha256',
    title: 'SHA-256',
    width: '128px',
    cell: ({ sha256 }) => <Copyable value={sha256} shown={sha256.slice(0, 10)} />,
  },
]
