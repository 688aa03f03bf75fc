// The log of sign-ins through the domain's provider: what to look at when somebody says that it does not work.
import { answer, api, type Schema } from '../../../api/client'
import { useOrganization, useOrganizationDenial } from '../../../api/me'
import { usePages } from '../../../api/pages'
import { providerName } from '../../../sign-in/ways'
import type { Column } from '../../../ui/DataTable'
import { PagedTable } from '../../../ui/PagedTable'
import { Empty } from '../../../ui/States'
import { Time } from '../../../ui/Values'
import { useAddress } from '../../page'
import { ONE, type PartProps } from '../queries'
import { Outcome, SignInDetails } from './SignInDetails'

type Record = Schema<'SignInRecord'>

const ABOUT =
  'Every sign-in through the provider of this domain, and every test of it, with what the provider sent and what each check said. Kept for 30 days.'

const COLUMNS: readonly Column<Record>[] = [
  { key: 'when', title: 'When', width: '110px', cell: ({ created_at }) => <Time value={created_at} /> },
  { key: 'outcome', title: 'Outcome', width: 'minmax(120px, 1fr)', cell: (row) => <Outcome record={row} /> },
  { key: 'who', title: 'Who', width: 'minmax(110px, 1fr)', cell: ({ email }) => email ?? '–' },
  {
    key: 'way',
    title: 'Way',
    width: '110px',
    isExtra: true,
    cell: ({ provider }) => providerName(provider),
  },
]

export function SignInsPart(props: PartProps) {
  const { search, showSignIn } = useAddress()
  const denial = useOrganizationDenial('admin')
  if (denial !== null) return <Empty title="Admins see the log of sign-ins.">{ABOUT}</Empty>
  if (search.sign_in !== undefined)
    return (
      <SignInDetails
        key={search.sign_in}
        domain={props.domain}
        id={search.sign_in}
        onBack={() => showSignIn(undefined)}
      />
    )
  return <SignIns {...props} />
}

function SignIns({ domain }: PartProps) {
  const { id: organization_id } = useOrganization()
  const { showSignIn } = useAddress()
  const pages = usePages(['sign-ins', domain.id], (page, signal) =>
    answer(
      api.GET(`${ONE}sign_ins/`, {
        params: { path: { organization_id, id: domain.id }, query: page },
        signal,
      }),
    ),
  )
  return (
    <PagedTable
      label="Sign-ins"
      pages={pages}
      columns={COLUMNS}
      rowKey={({ id }) => id}
      onOpen={({ id }) => showSignIn(id)}
      openLabel={({ email, created_at }) => `Open sign-in of ${email ?? 'nobody known'} at ${created_at}`}
      failure="The sign-ins could not be shown."
      empty={<Empty title="Nobody has signed in through the provider yet.">{ABOUT}</Empty>}
    />
  )
}
