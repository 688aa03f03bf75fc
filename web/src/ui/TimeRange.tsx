// The picker of a time range: the usual ones by a click, any other by two clocks in the project's zone.
import { Button, Popover, Stack, Text, TextInput, UnstyledButton } from '@mantine/core'
import { useState, type FormEvent } from 'react'
import { Icon } from './Icon'
import { instantOf, isInstant, PRESETS, rangeText, wallClock, type Range } from './time-range'
import classes from './TimeRange.module.css'
import { useZone } from './Values'

type Props = {
  value: Range
  onChange: (range: Range) => void
  /** What no bound is called; null where there must be one. */
  any?: string | null
}

export function TimeRange({ value, onChange, any = 'Any time' }: Props) {
  const zone = useZone()
  const [isOpen, setOpen] = useState(false)
  const choose = (range: Range) => {
    onChange(range)
    setOpen(false)
  }
  const shown = rangeText(value, zone, any ?? 'Any time')
  const choices: readonly { label: string; range: Range }[] = [
    ...(any === null ? [] : [{ label: any, range: {} }]),
    ...PRESETS.map(({ label, after }) => ({ label, range: { after } })),
  ]
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-start" trapFocus returnFocus>
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<Icon name="clock" size={14} />}
          rightSection={<Icon name="down" size={12} />}
          onClick={() => setOpen(!isOpen)}
          aria-label={`Time range: ${shown}`}
        >
          {shown}
        </Button>
      </Popover.Target>
      <Popover.Dropdown className={classes.dropdown} aria-label="Time range">
        <ul className={classes.presets}>
          {choices.map(({ label, range }) => (
            <li key={label}>
              <UnstyledButton
                className={classes.preset}
                aria-current={label === shown ? 'true' : undefined}
                onClick={() => choose(range)}
              >
                {label}
              </UnstyledButton>
            </li>
          ))}
        </ul>
        {isOpen && <Clocks value={value} zone={zone} onChoose={choose} />}
      </Popover.Dropdown>
    </Popover>
  )
}

type ClocksProps = { value: Range; zone: string | undefined; onChoose: (range: Range) => void }

function Clocks({ value, zone, onChoose }: ClocksProps) {
  const [from, setFrom] = useState(() => (isInstant(value.after) ? wallClock(value.after, zone) : ''))
  const [to, setTo] = useState(() => (isInstant(value.before) ? wallClock(value.before, zone) : ''))
  const isBackwards = from !== '' && to !== '' && from >= to
  const submit = (event: FormEvent) => {
    event.preventDefault()
    event.stopPropagation()
    if (isBackwards) return
    const after = instantOf(from, zone)
    const before = instantOf(to, zone)
    onChoose({ ...(after === null ? {} : { after }), ...(before === null ? {} : { before }) })
  }
  return (
    <form onSubmit={submit} className={classes.clocks}>
      <Stack gap="sm">
        <TextInput
          label="From"
          type="datetime-local"
          value={from}
          onChange={(event) => setFrom(event.currentTarget.value)}
        />
        <TextInput
          label="To"
          type="datetime-local"
          value={to}
          onChange={(event) => setTo(event.currentTarget.value)}
          error={isBackwards ? 'This is not after the start.' : undefined}
        />
        <Text size="xs" c="dimmed">
          {zone ?? 'Your own'} time. Either may stay empty.
        </Text>
        <Button type="submit" variant="default" disabled={from === '' && to === ''}>
          Apply range
        </Button>
      </Stack>
    </form>
  )
}
