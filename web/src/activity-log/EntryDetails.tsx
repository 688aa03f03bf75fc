// One entry of the log: who, when, and each change as before and after.
import { Stack, Text, Title } from '@mantine/core'
import { Facts } from '../ui/Facts'
import { Copyable, Time } from '../ui/Values'
import classes from './EntryDetails.module.css'
import { actorText, deedText, thingText, valueText, type Entry } from './words'

export function EntryDetails({ entry }: { entry: Entry }) {
  const { changes } = entry.detail
  return (
    <Stack gap="xl">
      <Facts
        facts={[
          ['Who', entry.actor.key_id === null ? actorText(entry) : `${actorText(entry)}, with a key`],
          ['Did', `${deedText(entry)} ${thingText(entry)} ${entry.detail.name ?? ''}`],
          ['When', <Time key="when" value={entry.created_at} style="second" />],
          ...(entry.item_id === null
            ? []
            : [['Thing', <Copyable key="thing" value={entry.item_id} />] as const]),
          ['Entry', <Copyable key="entry" value={entry.id} />],
        ]}
      />
      {changes.length === 0 ? (
        <Text c="dimmed" size="sm">
          The entry names no fields.
        </Text>
      ) : (
        changes.map(({ field, before, after }, index) => (
          <section key={index} className={classes.change}>
            <Title order={3} className="mono">
              {field ?? 'value'}
            </Title>
            <Side label="Before" value={before} />
            <Side label="After" value={after} isNew />
          </section>
        ))
      )}
    </Stack>
  )
}

function Side({ label, value, isNew = false }: { label: string; value: unknown; isNew?: boolean }) {
  return (
    <div className={classes.side} data-new={isNew || undefined}>
      <span className={classes.label}>{label}</span>
      <pre className={`mono ${classes.value}`}>{valueText(value)}</pre>
    </div>
  )
}
