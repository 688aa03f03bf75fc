// What is entered at the identity provider.
import { Text, Title } from '@mantine/core'
import { Facts } from '../../ui/Facts'
import { Copyable } from '../../ui/Values'
import classes from './Domain.module.css'

export function ProviderValues({ values }: { values: readonly (readonly [name: string, value: string])[] }) {
  return (
    <div>
      <Title order={3}>1. Enter these at the provider</Title>
      <Text size="sm" c="dimmed" mb="sm">
        It asks for some of them, under these names or similar ones.
      </Text>
      <div className={classes.record}>
        <Facts
          facts={values.map(([name, value]) => [name, <Copyable key={name} value={value} />] as const)}
        />
      </div>
    </div>
  )
}
