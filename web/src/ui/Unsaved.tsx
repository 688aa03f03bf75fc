// Beside the button that saves: what was typed is kept when somebody leaves, so the page says that it is not stored.
import { Button, Text } from '@mantine/core'

type Props = { form: { isChanged: boolean; reset: () => void } }

export function Unsaved({ form }: Props) {
  return (
    <>
      {form.isChanged && (
        <Button variant="default" onClick={() => form.reset()}>
          Discard changes
        </Button>
      )}
      <Text size="sm" c="dimmed" role="status">
        {form.isChanged && 'There are changes that are not saved.'}
      </Text>
    </>
  )
}
