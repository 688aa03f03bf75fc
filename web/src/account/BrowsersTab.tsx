// The browsers that are signed in, and signing them out.
import { Button, Group } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, api, type Schema } from '../api/client'
import { usePages } from '../api/pages'
import { signOut } from '../api/sign-out'
import { Confirm } from '../ui/Confirm'
import type { Column } from '../ui/DataTable'
import { done } from '../ui/notify'
import { PagedTable } from '../ui/PagedTable'
import { Empty } from '../ui/States'
import { Status } from '../ui/Status'
import { Toolbar } from '../ui/Toolbar'
import { Time } from '../ui/Values'
import { ME } from './page'

type Session = Schema<'BrowserSession'>
type Ending = Session | 'others' | 'all' | null

const LIST = ['sessions'] as const

const nameOf = ({ browser, system }: Session) =>
  [browser ?? 'Unknown browser', system].filter(Boolean).join(' on ')

export function BrowsersTab() {
  const queries = useQueryClient()
  const [ending, setEnding] = useState<Ending>(null)
  const pages = usePages(LIST, (page, signal) =>
    answer(api.GET('/api/users/{uuid}/sessions/', { params: { ...ME, query: page }, signal })),
  )
  const columns: Column<Session>[] = [
    { key: 'browser', title: 'Browser', width: 'minmax(120px, 2fr)', cell: nameOf },
    {
      key: 'ip',
      title: 'Address',
      width: '150px',
      isExtra: true,
      cell: ({ last_used_ip }) => <span className="mono">{last_used_ip || '–'}</span>,
    },
    {
      key: 'used',
      title: 'Last used',
      width: '130px',
      isExtra: true,
      cell: ({ last_used_at }) => <Time value={last_used_at} />,
    },
    {
      key: 'since',
      title: 'Signed in',
      width: '130px',
      isExtra: true,
      cell: ({ created_at }) => <Time value={created_at} />,
    },
    {
      key: 'end',
      title: <span className="aloud">Sign out</span>,
      width: '170px',
      align: 'end',
      cell: (session) =>
        session.current ? (
          <Group gap="sm" wrap="nowrap" justify="flex-end">
            <Status kind="delivered">this one</Status>
            <Button
              variant="default"
              size="compact-sm"
              aria-label="Sign out of this browser"
              onClick={() => void signOut()}
            >
              Sign out
            </Button>
          </Group>
        ) : (
          <Button
            variant="default"
            size="compact-sm"
            aria-label={`Sign out ${nameOf(session)}`}
            onClick={() => setEnding(session)}
          >
            Sign out
          </Button>
        ),
    },
  ]
  const end = async () => {
    if (ending === 'others' || ending === 'all') {
      const { ended } = await answer(api.POST('/api/users/{uuid}/sessions/end_others/', { params: ME }))
      if (ending === 'all') return signOut()
      done(ended === 1 ? 'One other browser was signed out.' : `${ended} other browsers were signed out.`)
    } else if (ending) {
      await answer(
        api.DELETE('/api/users/{uuid}/sessions/{id}/', { params: { path: { uuid: '@me', id: ending.id } } }),
      )
      done(`${nameOf(ending)} was signed out.`)
    }
    await queries.invalidateQueries({ queryKey: LIST })
  }
  const hasOthers = pages.count > 1
  return (
    <>
      <Toolbar
        actions={
          hasOthers && (
            <Group gap="sm">
              <Button variant="default" onClick={() => setEnding('others')}>
                Sign out all others
              </Button>
              <Button variant="default" onClick={() => setEnding('all')}>
                Sign out everywhere
              </Button>
            </Group>
          )
        }
      />
      <PagedTable
        label="Signed-in browsers"
        pages={pages}
        columns={columns}
        rowKey={({ id }) => id}
        failure="The browsers could not be shown."
        empty={<Empty title="No browser is signed in." />}
      />
      <Confirm isOpen={ending !== null} onClose={() => setEnding(null)} {...wordsFor(ending)} onConfirm={end}>
        {whatFollows(ending)} API keys go on working.
      </Confirm>
    </>
  )
}

function wordsFor(ending: Ending) {
  if (ending === 'all') return { title: 'Sign out everywhere?', button: 'Sign out all browsers' }
  if (ending === 'others') return { title: 'Sign out all other browsers?', button: 'Sign out others' }
  return { title: 'Sign out this browser?', button: 'Sign out browser' }
}

function whatFollows(ending: Ending): string {
  if (ending === 'all') return 'Every browser has to sign in again, this one too.'
  if (ending === 'others') return 'Only this browser stays signed in.'
  return ending === null ? '' : `${nameOf(ending)} has to sign in again.`
}
