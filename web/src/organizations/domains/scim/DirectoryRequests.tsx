// What the directory asked for, and what it was told.
import { Stack } from '@mantine/core'
import { answer, api, type Schema } from '../../../api/client'
import { useOrganization } from '../../../api/me'
import { usePages } from '../../../api/pages'
import { CodeBlock } from '../../../ui/CodeBlock'
import type { Column } from '../../../ui/DataTable'
import { Dialog } from '../../../ui/Dialog'
import { Facts } from '../../../ui/Facts'
import { countText } from '../../../ui/format'
import { PagedTable } from '../../../ui/PagedTable'
import { Empty } from '../../../ui/States'
import { Status } from '../../../ui/Status'
import { Time } from '../../../ui/Values'
import { useAddress } from '../../page'

type Request = Schema<'DirectoryRequest'>

const ROWS_HEIGHT = '420px'

const Answer = ({ status }: { status: number }) => (
  <Status kind={status < 400 ? 'delivered' : 'failed'}>{status}</Status>
)

const COLUMNS: readonly Column<Request>[] = [
  { key: 'when', title: 'When', width: '110px', cell: ({ created_at }) => <Time value={created_at} /> },
  {
    key: 'request',
    title: 'Request',
    width: 'minmax(140px, 2fr)',
    cell: ({ method, path }) => (
      <span className="mono">
        {method} {path}
      </span>
    ),
  },
  { key: 'status', title: 'Answer', width: '80px', cell: ({ status }) => <Answer status={status} /> },
]

export function DirectoryRequests({ domainId }: { domainId: string }) {
  const { id: organization_id } = useOrganization()
  const { search, showRequest } = useAddress()
  const pages = usePages(['scim-requests', domainId], (page, signal) =>
    answer(
      api.GET('/api/organizations/{organization_id}/domains/{domain_id}/scim/requests/', {
        params: { path: { organization_id, domain_id: domainId }, query: page },
        signal,
      }),
    ),
  )
  const opened = pages.rows?.find(({ id }) => id === search.request)
  const isMany = (pages.rows?.length ?? 0) > 10
  return (
    <>
      <PagedTable
        label="Requests"
        pages={pages}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        onOpen={({ id }) => showRequest(id)}
        openLabel={({ method, path, status }) => `Open ${method} ${path}, ${status}`}
        {...(isMany ? { height: ROWS_HEIGHT } : {})}
        failure="The requests could not be shown."
        empty={<Empty title="The directory has not called yet." />}
      />
      <Dialog
        opened={search.request !== undefined && pages.rows !== undefined}
        onClose={() => showRequest(undefined)}
        size="lg"
        title={opened ? `${opened.method} ${opened.path}` : 'Request'}
      >
        {opened ? (
          <Stack gap="md">
            <Facts
              facts={[
                ['Answer', <Answer key="answer" status={opened.status} />],
                ['When', <Time key="when" value={opened.created_at} style="second" />],
                ['Took', `${countText(opened.duration_ms)} ms`],
              ]}
            />
            {opened.request_body !== null && <CodeBlock label="Sent" code={indented(opened.request_body)} />}
            {opened.response_body !== null && (
              <CodeBlock label="Answered" code={indented(opened.response_body)} />
            )}
          </Stack>
        ) : search.request === undefined ? null : (
          <Empty title="This request is not in the list.">
            Only the last thousand are kept. If the list is long, scroll further down.
          </Empty>
        )}
      </Dialog>
    </>
  )
}

/** As it is where it was cut. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
