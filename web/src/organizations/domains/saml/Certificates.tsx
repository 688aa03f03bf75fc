// What the provider may sign with, and for how long. Several at a time let it change over without a gap.
import { Text, Title } from '@mantine/core'
import type { Domain } from '../queries'
import { Status } from '../../../ui/Status'
import { Time } from '../../../ui/Values'
import classes from '../Domain.module.css'
import { certificateKind, certificateText } from './certificate'

export function Certificates({ certificates }: { certificates: Domain['saml_certificates'] }) {
  return (
    <div>
      <Title order={3}>Certificates of the provider</Title>
      <Text size="sm" c="dimmed">
        Admins get a mail 30 days before one expires. Put the next one below the old one, and the provider can
        change over at any time.
      </Text>
      <ul className={classes.checks} aria-label="Certificates">
        {certificates.map(({ subject, expires_at }) => (
          <li key={`${subject} ${expires_at}`} className={classes.check}>
            <Status kind={certificateKind(expires_at)}>
              {certificateText(expires_at)} <Time value={expires_at} style="day" />
            </Status>
            <div className={classes.said}>{subject}</div>
          </li>
        ))}
      </ul>
    </div>
  )
}
