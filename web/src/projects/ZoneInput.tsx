import { TextInput, type TextInputProps } from '@mantine/core'
import { useId } from 'react'

/** A time zone by its name; the browser offers those it knows. */
export function ZoneInput(props: TextInputProps) {
  const list = useId()
  return (
    <>
      <TextInput
        label="Time zone"
        description="Days of exports and queries begin and end there, such as Europe/Berlin."
        required
        list={list}
        {...props}
      />
      <datalist id={list}>
        {['UTC', ...Intl.supportedValuesOf('timeZone')].map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </>
  )
}
