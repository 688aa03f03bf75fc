// Which mails you get beside those about your own account.
import { Stack, Switch } from '@mantine/core'
import { useMe } from '../api/me'
import { done, refused } from '../ui/notify'
import { Section } from '../ui/Section'
import { isMailed, settingOf, type Mail } from './notifications'
import { useAccountChange } from './page'

export function NotificationsTab() {
  const { organization, organizations } = useMe()
  return (
    <>
      <Section
        title="Exports"
        text="Sent to admins and owners when a run fails: at the first failure, then once a day at most."
      >
        <Stack gap="md">
          {organization?.teams.map(({ id, name }) => (
            <MailSwitch
              key={id}
              mail={{ about: 'exports', id: String(id) }}
              label={`Failed exports of ${name}`}
            />
          ))}
        </Stack>
      </Section>
      <Section title="Apps" text="Sent to admins and owners, once a day at most.">
        <MailSwitch mail={{ about: 'apps' }} label="Apps that were switched off or do not run" />
      </Section>
      <Section
        title="Members"
        text="Sent when somebody joins, unless the organization has switched these mails off for everybody."
      >
        <Stack gap="md">
          {organizations.map(({ id, name }) => (
            <MailSwitch key={id} mail={{ about: 'members', id }} label={`New members of ${name}`} />
          ))}
        </Stack>
      </Section>
    </>
  )
}

function MailSwitch({ mail, label }: { mail: Mail; label: string }) {
  const { notification_settings } = useMe()
  const change = useAccountChange()
  const set = async (isOn: boolean) => {
    try {
      await change({ notification_settings: settingOf(mail, isOn) })
      done(`${label}: ${isOn ? 'you get mails.' : 'you get no mails.'}`)
    } catch (error) {
      refused(error)
    }
  }
  return (
    <Switch
      label={label}
      checked={isMailed(notification_settings, mail)}
      onChange={(event) => void set(event.currentTarget.checked)}
    />
  )
}
