// A sign-in through a provider that led nowhere: what happened, what to do, and the id by which an admin finds the details.
import { Text } from '@mantine/core'
import { REFUSALS, type RefusalCode } from '../../../src/features/sign-in/provider/refusals.ts'
import { Copyable } from '../ui/Values'
import { Card, CardLink } from './Card'

export const isRefusal = (code: string | undefined): code is RefusalCode =>
  code !== undefined && Object.hasOwn(REFUSALS, code)

export function Refused({ code, id }: { code: RefusalCode; id: string | undefined }) {
  return (
    <Card
      title="You were not signed in"
      text={REFUSALS[code]}
      links={
        <CardLink to="/login" search={{}}>
          Start again
        </CardLink>
      }
    >
      {id !== undefined && (
        <div>
          <Text size="sm" c="dimmed">
            Admins find the details by this id, under Organization, Domains, Sign-ins.
          </Text>
          <Copyable value={id} />
        </div>
      )}
    </Card>
  )
}
